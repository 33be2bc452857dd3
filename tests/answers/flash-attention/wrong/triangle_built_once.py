# family: cost
# mistake: mask-for-all-pairs
import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    n, m = q.size(2), k.size(2)
    mask = torch.ones(n, m, dtype=torch.bool, device=q.device).tril(m - n) if causal else None
    mx = q.new_full((*q.shape[:3], 1), float("-inf"))
    l, o = torch.zeros_like(mx), 0
    for start in range(0, m, block_size):
        kj, vj = k[:, :, start : start + block_size], v[:, :, start : start + block_size]
        s = q @ kj.mT / q.size(-1) ** 0.5
        if causal:
            s = s.masked_fill(~mask[:, start : start + block_size], float("-inf"))
        new = torch.maximum(mx, s.amax(-1, keepdim=True))
        p, c = (s - new).exp(), (mx - new).exp()
        l, o, mx = l * c + p.sum(-1, keepdim=True), o * c + p @ vj, new
    return o / l
