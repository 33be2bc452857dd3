# family: core
# mistake: scaled-like-softmax
# The queries are scaled by 1 / sqrt(d_k), there is no scale.
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False, eps=1e-6):
    q = F.elu(q * q.shape[-1] ** -0.5) + 1  # wrong
    k = F.elu(k) + 1
    n, m = q.shape[2], k.shape[2]
    if not causal:
        kv = k.transpose(-1, -2) @ v
        z = k.sum(dim=2)
        num = q @ kv
        den = (q * z.unsqueeze(2)).sum(-1, keepdim=True)
        return num / (den + eps)
    S = k[:, :, :m - n].transpose(-1, -2) @ v[:, :, :m - n]
    z = k[:, :, :m - n].sum(2)
    out = []
    for i in range(n):
        j = m - n + i
        S = S + k[:, :, j].unsqueeze(-1) * v[:, :, j].unsqueeze(-2)
        z = z + k[:, :, j]
        num = (q[:, :, i].unsqueeze(-2) @ S).squeeze(-2)
        den = (q[:, :, i] * z).sum(-1, keepdim=True)
        out.append(num / (den + eps))
    return torch.stack(out, dim=2)
