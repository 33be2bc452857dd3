import math

import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    B, H, n, d = q.shape
    m = k.shape[2]
    out = torch.empty(B, H, n, v.shape[-1], dtype=q.dtype, device=q.device)
    for i0 in range(0, n, block_size):
        qi = q[:, :, i0 : i0 + block_size] * (1 / math.sqrt(d))
        r = qi.shape[2]
        o = torch.zeros(B, H, r, v.shape[-1], dtype=q.dtype, device=q.device)
        l = torch.zeros(B, H, r, dtype=q.dtype, device=q.device)
        mx = torch.full((B, H, r), -torch.inf, dtype=q.dtype, device=q.device)
        last = m - n + i0 + r
        for j0 in range(0, min(m, last) if causal else m, block_size):
            kj, vj = k[:, :, j0 : j0 + block_size], v[:, :, j0 : j0 + block_size]
            s = torch.einsum("bhid,bhjd->bhij", qi, kj)
            if causal:
                i = torch.arange(i0, i0 + r, device=q.device) + (m - n)
                j = torch.arange(j0, j0 + kj.shape[2], device=q.device)
                s = torch.where(j[None, :] <= i[:, None], s, s.new_tensor(-torch.inf))
            new = torch.maximum(mx, s.max(-1).values)
            p = torch.exp(s - new[..., None])
            a = torch.exp(mx - new)
            l = a * l + p.sum(-1)
            o = a[..., None] * o + torch.einsum("bhij,bhje->bhie", p, vj)
            mx = new
        out[:, :, i0 : i0 + r] = o / l[..., None]
    return out
