# family: cost
# mistake: blocks-kept
import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    n, m = q.size(2), k.size(2)
    parts = [q @ kj.mT / q.size(-1) ** 0.5 for kj in k.split(block_size, 2)]
    if causal:
        row = torch.arange(m - n, m, device=q.device)[:, None]
        cols = torch.arange(m, device=q.device).split(block_size)
        parts = [s.masked_fill(c > row, float("-inf")) for s, c in zip(parts, cols)]
    top = parts[0].amax(-1, keepdim=True)
    for s in parts[1:]:
        top = torch.maximum(top, s.amax(-1, keepdim=True))
    parts = [(s - top).exp() for s in parts]
    total = sum(s.sum(-1, keepdim=True) for s in parts)
    return sum(s @ vj for s, vj in zip(parts, v.split(block_size, 2))) / total
