# family: core
# mistake: none
# The result is made in the default dtype on the CPU, not as the inputs are.
import torch


def packed_attention(q, k, v, cu_seqlens, causal=False):
    T, H, d = q.shape
    out = torch.zeros(T, H, v.shape[2])  # wrong
    for b in range(len(cu_seqlens) - 1):
        lo, hi = cu_seqlens[b], cu_seqlens[b + 1]
        if lo == hi:
            continue
        s = torch.einsum("qhd,khd->hqk", q[lo:hi], k[lo:hi]) / d ** 0.5
        if causal:
            t = torch.arange(hi - lo, device=s.device)
            s = torch.where(t[:, None] >= t[None, :], s, torch.full_like(s, float("-inf")))
        p = torch.softmax(s, dim=2)
        out[lo:hi] = torch.einsum("hqk,khv->qhv", p, v[lo:hi])
    return out
