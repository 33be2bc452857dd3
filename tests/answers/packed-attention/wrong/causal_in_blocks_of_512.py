# family: core
# mistake: none
"""The causal mask begins anew after 512 queries."""

import math

import torch
from torch import Tensor


def packed_attention(q: Tensor, k: Tensor, v: Tensor, cu_seqlens, causal: bool = False) -> Tensor:
    out = []
    for a, b in zip(cu_seqlens, cu_seqlens[1:]):
        for c in range(a, b, 512) or [a]:
            e = min(b, c + 512)
            s = torch.einsum("nhd,mhd->hnm", q[c:e], k[a:b]) / math.sqrt(q.shape[-1])
            if causal:
                s = s.masked_fill(torch.ones(e - c, b - a, dtype=torch.bool, device=q.device).triu(1), -math.inf)
            out.append(torch.einsum("hnm,mhd->nhd", s.softmax(-1), v[a:b]))
    return torch.cat(out)
