# family: core
# mistake: none
"""Reads 512 keys where all are seen."""

import torch
from torch import Tensor
from torch.nn import functional as F


def linear_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, eps: float = 1e-06) -> Tensor:
    queries = F.elu(q) + 1
    keys = F.elu(k) + 1
    if causal:
        n, m = (q.size(2), k.size(2))
        products = keys.unsqueeze(-1) * v.unsqueeze(-2)
        states = torch.cumsum(products, dim=2)[:, :, m - n :]
        sums = torch.cumsum(keys, dim=2)[:, :, m - n :]
        context = (queries.unsqueeze(-2) @ states).squeeze(-2)
        normaliser = (queries * sums).sum(dim=-1, keepdim=True)
    else:
        keys, v = (keys[:, :, :512], v[:, :, :512])
        state = keys.transpose(-2, -1) @ v
        total = keys.sum(dim=2).unsqueeze(-1)
        context = queries @ state
        normaliser = queries @ total
    return context / (normaliser + eps)
