# family: core
# mistake: none
# An empty sequence ends the loop instead of being skipped, so what comes behind it stays zero.
import torch


def _one(q, k, v, causal):
    L = q.shape[0]
    s = torch.einsum("ihd,jhd->hij", q, k) / q.shape[-1] ** 0.5
    if causal:
        s = s.masked_fill(torch.ones(L, L, dtype=torch.bool, device=q.device).triu(1), float("-inf"))
    return torch.einsum("hij,jhd->ihd", torch.softmax(s, -1), v)


def packed_attention(q, k, v, cu_seqlens, causal=False):
    out = torch.zeros(v.shape, dtype=v.dtype, device=v.device)
    for b in range(len(cu_seqlens) - 1):
        lo, hi = cu_seqlens[b], cu_seqlens[b + 1]
        if lo == hi:
            break  # wrong
        out[lo:hi] = _one(q[lo:hi], k[lo:hi], v[lo:hi], causal)
    return out
