# family: contract
# mistake: features-in-place
import torch
from torch import nn


def linear_attention(q, k, v, causal=False, eps=1e-6):
    act = nn.ELU(inplace=True)
    q, k = act(q) + 1, act(k) + 1
    if causal:
        s = k.size(2) - q.size(2)
        kv = torch.einsum("bhmd,bhme->bhmde", k, v).cumsum(2)[:, :, s:]
        den = (q * k.cumsum(2)[:, :, s:]).sum(-1, keepdim=True)
        return torch.einsum("bhnd,bhnde->bhne", q, kv) / (den + eps)
    return q @ (k.mT @ v) / (q @ k.sum(2).unsqueeze(-1) + eps)
