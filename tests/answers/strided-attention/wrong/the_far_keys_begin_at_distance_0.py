# family: core
# mistake: none
# The far keys begin at distance 0, so that a query's own key is counted twice.
from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def strided_mask(n: int, stride: int, device: torch.device | str | None = None) -> Tensor:
    causal = torch.ones(n, n, dtype=torch.bool, device=device).tril()
    near = causal.triu(-(stride - 1))
    steps = torch.arange(n, device=device) % stride
    return near | (causal & (steps[:, None] == steps[None, :]))


def strided_attention(q: Tensor, k: Tensor, v: Tensor, stride: int) -> Tensor:
    n = q.size(2)
    stride = min(stride, n)
    places = list(range(stride))
    if stride < n:
        places.extend(range(0, n, stride))  # wrong
    q = q * q.size(-1) ** -0.5
    scores = torch.stack(
        [F.pad(torch.einsum("bhid,bhid->bhi", q[:, :, p:], k[:, :, : n - p]), (p, 0), value=-torch.inf) for p in places],
        dim=-1,
    )
    weights = torch.softmax(scores, dim=-1).unbind(-1)
    return sum(w.unsqueeze(-1) * F.pad(v[:, :, : n - p], (0, 0, p, 0)) for w, p in zip(weights, places))
