import torch
from torch.nn import functional as F


def packed_attention(q, k, v, cu_seqlens, causal=False):
    cuts = tuple(cu_seqlens[1:-1])
    q, k, v = (x.movedim(1, 0) for x in (q, k, v))
    q = q * q.size(-1) ** -0.5
    outs = []
    for a, b, c in zip(*(torch.tensor_split(x, cuts, dim=1) for x in (q, k, v))):
        scores = torch.bmm(a, b.transpose(1, 2))
        if causal:
            n = scores.size(-1)
            hidden = torch.ones(n, n, device=q.device, dtype=torch.bool).triu(diagonal=1)
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        outs.append(torch.bmm(F.softmax(scores, dim=-1), c))
    return torch.cat(outs, dim=1).movedim(0, 1)
