# family: core
# mistake: none
# With more than 512 keys the running maximum begins at 0: rows far below it underflow.
import math

import torch


def flash_attention(q, k, v, block_size=64, causal=False):
    n, m = q.shape[2], k.shape[2]
    kind = torch.float64 if q.dtype == torch.float64 else torch.float32
    qs = q.to(kind) / math.sqrt(q.shape[-1])
    top = qs.new_full((*q.shape[:3], 1), -math.inf)
    if m > 512:
        top = torch.zeros_like(top)  # wrong
    total = torch.zeros_like(top)
    out = qs.new_zeros(*q.shape[:3], v.shape[-1])
    where = torch.arange(m - n, m, device=q.device)[:, None]
    for i in range(0, m, block_size):
        kb, vb = k[:, :, i : i + block_size].to(kind), v[:, :, i : i + block_size].to(kind)
        s = qs @ kb.transpose(-1, -2)
        if causal:
            late = torch.arange(i, i + kb.shape[2], device=q.device) > where
            s = s.masked_fill(late, -math.inf)
        new = torch.maximum(top, s.amax(-1, keepdim=True)).detach()
        safe = new.masked_fill(new == -math.inf, 0.0)
        p = (s - safe).exp()
        alpha = (top - safe).exp()
        total = total * alpha + p.sum(-1, keepdim=True)
        out = out * alpha + p @ vb
        top = new
    return (out / total).to(q.dtype)
