# family: mask
# mistake: none
# With more than 64 tokens the running maximum begins at 0 at least: rows far below it underflow.
import math

import torch


def strided_mask(n, stride, device=None):
    i = torch.empty(n, dtype=torch.int64, device=device)
    i = torch.ones_like(i).cumsum(0)
    d = i[:, None] - i
    return (d >= 0) & ((d < stride) | (d % stride == 0))


def strided_attention(q, k, v, stride):
    B, H, n, d = q.shape
    wide = torch.promote_types(q.dtype, torch.float32)
    Q, K, V = q.to(wide) / math.sqrt(d), k.to(wide), v.to(wide)
    distances = sorted({*range(min(stride, n)), *range(0, n, stride)})
    s = (Q * K).sum(-1, keepdim=True)
    first = s.detach().clamp(min=0) if n > 64 else s.detach()  # wrong
    top, total, out = first, (s - first).exp(), (s - first).exp() * V
    for t in distances[1:]:
        s = (Q[:, :, t:] * K[:, :, : n - t]).sum(-1, keepdim=True)
        new = torch.maximum(top[:, :, t:], s).detach()
        c, e = (top[:, :, t:] - new).exp(), (s - new).exp()
        total = torch.cat((total[:, :, :t], total[:, :, t:] * c + e), 2)
        out = torch.cat((out[:, :, :t], out[:, :, t:] * c + e * V[:, :, : n - t]), 2)
        top = torch.cat((top[:, :, :t], new), 2)
    return (out / total).to(q.dtype)
