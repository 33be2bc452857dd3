import math

import torch


def attend(q, k, v, causal):
    scores = torch.matmul(q, k.mT) * (1 / math.sqrt(q.size(-1)))
    if causal:
        i = torch.arange(q.size(-2), device=q.device)
        scores = torch.where(i[:, None] >= i, scores, -torch.inf)
    scores = scores - scores.max(dim=-1, keepdim=True).values
    e = scores.exp()
    return (e / e.sum(-1, keepdim=True)) @ v


def packed_attention(q, k, v, cu_seqlens, causal=False):
    out = q.new_empty(q.shape[0], q.shape[1], v.shape[2])
    for b in range(len(cu_seqlens) - 1):
        rows = slice(cu_seqlens[b], cu_seqlens[b + 1])
        if rows.start == rows.stop:
            continue
        out[rows] = attend(*(t[rows].permute(1, 0, 2) for t in (q, k, v)), causal).permute(1, 0, 2)
    return out
