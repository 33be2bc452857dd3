# family: core
# mistake: none
# The last row of each sequence is left out (the end of a slice is exclusive already).
import torch
from torch import Tensor


def _attend(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    L = q.shape[0]
    s = torch.einsum("ihd,jhd->hij", q, k) * q.shape[-1] ** -0.5
    if causal:
        keep = torch.tril(torch.ones(L, L, dtype=torch.bool, device=q.device))
        s = s.masked_fill(~keep, -torch.inf)
    return torch.einsum("hij,jhv->ihv", torch.softmax(s, dim=-1), v)


def packed_attention(q: Tensor, k: Tensor, v: Tensor, cu_seqlens, causal: bool = False) -> Tensor:
    out = torch.zeros(q.shape[0], q.shape[1], v.shape[-1], dtype=q.dtype, device=q.device)
    for b in range(len(cu_seqlens) - 1):
        rows = slice(cu_seqlens[b], cu_seqlens[b + 1] - 1)  # wrong
        if cu_seqlens[b + 1] > cu_seqlens[b]:
            out[rows] = _attend(q[rows], k[rows], v[rows], causal)
    return out
