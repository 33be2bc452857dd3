# family: core
# mistake: scaled-like-softmax
# The queries are divided by sqrt(d_k) before the feature map, where nothing is scaled.
import math

import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False, eps=1e-6):
    dt, (n, d), m = q.dtype, q.shape[-2:], k.shape[-2]
    if dt in (torch.half, torch.bfloat16): q, k, v = q.float(), k.float(), v.float()
    a, b = F.elu(q / math.sqrt(d)) + 1, F.elu(k) + 1  # wrong
    if not causal:
        return (a @ (b.mT @ v) / (a @ b.sum(-2)[..., None] + eps)).to(dt)
    out = []
    S, z = b[:, :, : m - n].mT @ v[:, :, : m - n], b[:, :, : m - n].sum(-2)
    for i in range(n):
        x, y, r = a[:, :, i], b[:, :, m - n + i], v[:, :, m - n + i]
        S, z = S + y[..., None] * r[..., None, :], z + y
        out.append((x[..., None, :] @ S)[..., 0, :] / ((x * z).sum(-1, keepdim=True) + eps))
    return torch.stack(out, 2).to(dt)
