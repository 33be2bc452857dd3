# family: mask
# mistake: aligned-top-left
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False, eps=1e-6):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    if not causal:
        return q @ (k.mT @ v) / (q @ k.sum(2).unsqueeze(-1) + eps)
    n = q.size(2)
    out = []
    S = q.new_zeros(*q.shape[:2], k.size(-1), v.size(-1))
    z = q.new_zeros(*q.shape[:2], k.size(-1))
    for i in range(n):
        S = S + k[:, :, i, :, None] * v[:, :, i, None]
        z = z + k[:, :, i]
        qi = q[:, :, i]
        out.append(torch.einsum("bhd,bhde->bhe", qi, S) / ((qi * z).sum(-1, keepdim=True) + eps))
    return torch.stack(out, 2)
