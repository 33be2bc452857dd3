import torch

BLOCK = 128


def one(q, k, v, causal):
    """Flash attention of one sequence (S, H, d), the blocks of keys behind one another."""
    n = q.size(0)
    q, k, v = q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1)
    top = torch.full_like(q[..., :1], -torch.inf)
    total = torch.zeros_like(top)
    acc = torch.zeros(*q.shape[:-1], v.size(-1), dtype=q.dtype, device=q.device)
    for start in range(0, n, BLOCK):
        stop = min(n, start + BLOCK)
        s = q @ k[:, start:stop].transpose(1, 2) / q.size(-1) ** 0.5
        if causal:
            rows = torch.arange(n, device=q.device)[:, None]
            s = s.masked_fill(torch.arange(start, stop, device=q.device) > rows, -torch.inf)
        new = torch.maximum(top, s.amax(-1, keepdim=True))
        old, p = torch.exp(top - new), torch.exp(s - new)
        total, acc, top = total * old + p.sum(-1, keepdim=True), acc * old + p @ v[:, start:stop], new
    return (acc / total).transpose(0, 1)


def packed_attention(q, k, v, cu_seqlens, causal=False):
    pairs = list(zip(cu_seqlens, cu_seqlens[1:]))
    return torch.cat([one(q[a:b], k[a:b], v[a:b], causal) for a, b in pairs])
