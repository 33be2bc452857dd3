# family: core
# mistake: softmax-over-queries
# The softmax runs over the queries instead of the keys.
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor


def attend(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    s = torch.einsum("qhd,khd->qkh", q, k) * q.shape[-1] ** -0.5
    if causal:
        i = torch.arange(q.shape[0], device=q.device)
        s = s.masked_fill((i[None, :] > i[:, None])[..., None], -torch.inf)
    return torch.einsum("qkh,khd->qhd", s.softmax(0), v)  # wrong


def packed_attention(q: Tensor, k: Tensor, v: Tensor, cu_seqlens: Sequence[int], causal: bool = False) -> Tensor:
    parts = [attend(q[a:b], k[a:b], v[a:b], causal) for a, b in pairwise(cu_seqlens) if b > a]
    return torch.cat(parts) if parts else torch.zeros_like(v)
