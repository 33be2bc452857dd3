# family: core
# mistake: none
"""Begins the state of a chunk 64 tokens before it."""

import torch
from torch import Tensor
from torch.nn import functional as F


def linear_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, eps: float = 1e-06) -> Tensor:
    queries = F.elu(q) + 1
    keys = F.elu(k) + 1
    if causal:
        n, m = (q.size(2), k.size(2))
        products = keys.unsqueeze(-1) * v.unsqueeze(-2)
        first = max(0, m - n - 64) if n < m else 0
        products, keys = (products[:, :, first:], keys[:, :, first:])
        m -= first
        states = torch.cumsum(products, dim=2)[:, :, m - n :]
        sums = torch.cumsum(keys, dim=2)[:, :, m - n :]
        context = (queries.unsqueeze(-2) @ states).squeeze(-2)
        normaliser = (queries * sums).sum(dim=-1, keepdim=True)
    else:
        state = keys.transpose(-2, -1) @ v
        total = keys.sum(dim=2).unsqueeze(-1)
        context = queries @ state
        normaliser = queries @ total
    return context / (normaliser + eps)
