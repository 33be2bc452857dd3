# family: core
# mistake: aligned-top-left
# Causal, the queries get the states of the first n positions, not of the last n.
import torch
from torch import nn


def linear_attention(q, k, v, causal=False, eps=1e-6):
    feature = nn.ELU()
    Q = feature(q) + 1.0
    K = feature(k) + 1.0
    n = Q.shape[2]
    if not causal:
        state = torch.matmul(K.transpose(2, 3), v)
        norm = torch.matmul(Q, K.sum(dim=2, keepdim=True).transpose(2, 3))
        return torch.matmul(Q, state) / (norm + eps)
    states = torch.cumsum(K[..., :, None] * v[..., None, :], dim=2)
    sums = torch.cumsum(K, dim=2)
    states, sums = states[:, :, :n], sums[:, :, :n]  # wrong
    top = torch.einsum("bhnd,bhndv->bhnv", Q, states)
    bottom = torch.einsum("bhnd,bhnd->bhn", Q, sums)[..., None]
    return top / (bottom + eps)
