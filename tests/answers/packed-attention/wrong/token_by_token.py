# family: cost
# mistake: loop-over-queries
import bisect

import torch


def packed_attention(q, k, v, cu_seqlens, causal=False):
    out = torch.zeros(q.size(0), q.size(1), v.size(2), dtype=q.dtype, device=q.device)
    for i in range(q.size(0)):
        b = bisect.bisect_right(cu_seqlens, i)
        start, end = cu_seqlens[b - 1], cu_seqlens[b]
        if causal:
            end = i + 1
        w = torch.softmax((k[start:end] * q[i]).sum(-1) / q.size(-1) ** 0.5, dim=0)
        out[i] = (w.unsqueeze(-1) * v[start:end]).sum(0)
    return out
