# family: core
# mistake: eps-outside-the-quotient
import torch
import torch.nn.functional as F


def linear_attention(q, k, v, causal=False, eps=1e-6):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    if causal:
        s = k.size(2) - q.size(2)
        kv = torch.einsum("bhmd,bhme->bhmde", k, v).cumsum(2)[:, :, s:]
        den = (q * k.cumsum(2)[:, :, s:]).sum(-1, keepdim=True)
        return torch.einsum("bhnd,bhnde->bhne", q, kv) / den + eps
    den = q @ k.sum(2).unsqueeze(-1)
    return q @ (k.mT @ v) / den + eps
