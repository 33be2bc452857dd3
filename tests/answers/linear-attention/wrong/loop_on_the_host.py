# family: device
# mistake: none
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False, eps=1e-6):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    if not causal:
        return q @ (k.mT @ v) / (q @ k.sum(2).unsqueeze(-1) + eps)
    B, H, m, d = k.shape
    n = q.size(2)
    S = torch.zeros(B, H, d, v.size(-1), dtype=q.dtype)
    z = torch.zeros(B, H, d, dtype=q.dtype)
    out = []
    for t in range(m):
        S += k[:, :, t, :, None] * v[:, :, t, None]
        z += k[:, :, t]
        if t >= m - n:
            qi = q[:, :, t - m + n]
            out.append((qi[..., None] * S).sum(2) / ((qi * z).sum(-1, keepdim=True) + eps))
    return torch.stack(out, 2)
