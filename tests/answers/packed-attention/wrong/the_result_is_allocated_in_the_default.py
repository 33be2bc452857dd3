# family: core
# mistake: none
# The result is allocated in the default dtype instead of that of the inputs.
"""Sequences of equal length are stacked and attended in one go."""

from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor


def _by_length(cu_seqlens: Sequence[int]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for begin, end in zip(cu_seqlens, cu_seqlens[1:]):
        if end > begin:
            groups[end - begin].append(begin)
    return groups


def packed_attention(q: Tensor, k: Tensor, v: Tensor, cu_seqlens: Sequence[int], causal: bool = False) -> Tensor:
    T, H, d_v = v.shape
    out = torch.zeros(T, H, d_v, device=v.device)  # wrong
    for length, begins in _by_length(cu_seqlens).items():
        span = torch.arange(length, device=q.device)
        rows = torch.tensor(begins, device=q.device)[:, None] + span  # (G, L)
        qs, ks, vs = (t[rows].transpose(1, 2) for t in (q, k, v))  # (G, H, L, d)
        scores = qs @ ks.mT / q.shape[-1] ** 0.5
        if causal:
            scores = scores.masked_fill(span[None, :] > span[:, None], float("-inf"))
        out[rows] = (scores.softmax(-1) @ vs).transpose(1, 2).to(out.dtype)
    return out
