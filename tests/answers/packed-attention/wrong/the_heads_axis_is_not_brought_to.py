# family: core
# mistake: heads-attend-to-heads
# The heads axis is not brought to the front, heads attend to heads instead of tokens to tokens.
import math
import torch


def packed_attention(q, k, v, cu_seqlens, causal=False):
    out = q.new_zeros(q.shape[0], q.shape[1], v.shape[2])
    pieces = []
    for s, e in zip(cu_seqlens[:-1], cu_seqlens[1:]):
        if s == e:
            continue
        qs, ks, vs = q[s:e], k[s:e], v[s:e]  # wrong
        scores = qs @ ks.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if causal:
            size = scores.shape[-1]
            future = torch.ones(size, size, dtype=torch.bool, device=q.device).triu(1)
            scores = scores.masked_fill(future, float("-inf"))
        pieces.append(scores.softmax(-1) @ vs)
    return torch.cat(pieces, 0) if pieces else out
