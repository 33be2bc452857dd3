import torch
from torch import nn


def linear_attention(q, k, v, causal=False, eps=1e-6):
    """The sum of the weights is one more value, which is always 1."""
    activation = nn.ELU()
    q, k = activation(q) + 1, activation(k) + 1
    v1 = torch.cat([v, torch.ones_like(v[..., :1])], dim=-1)
    if causal:
        states = (k[..., :, None] * v1[..., None, :]).cumsum(dim=2)[:, :, -q.size(2) :]
        both = (q[..., None, :] @ states)[..., 0, :]
    else:
        both = q @ (k.mT @ v1)
    return both[..., :-1] / (both[..., -1:] + eps)
