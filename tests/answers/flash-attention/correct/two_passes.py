import torch


def blocks(q, k, size, causal):
    n, m = q.size(2), k.size(2)
    row = torch.arange(n, device=q.device).unsqueeze(-1) + m - n
    for start in range(0, m, size):
        part = slice(start, min(start + size, m))
        s = q @ k[:, :, part].mT * q.size(-1) ** -0.5
        if causal:
            s = s.masked_fill(torch.arange(part.start, part.stop, device=q.device) > row, float("-inf"))
        yield part, s


def flash_attention(q, k, v, block_size=64, causal=False):
    """First the largest score and the sum, then the weights."""
    top = torch.full(q.shape[:3], float("-inf"), dtype=q.dtype, device=q.device)
    total = torch.zeros_like(top)
    for _, s in blocks(q, k, block_size, causal):
        new = torch.maximum(top, s.amax(-1).detach())
        total = total * (top - new).exp() + (s - new.unsqueeze(-1)).exp().sum(-1)
        top = new
    out = 0
    for part, s in blocks(q, k, block_size, causal):
        out = out + ((s - top.unsqueeze(-1)).exp() / total.unsqueeze(-1)) @ v[:, :, part]
    return out
