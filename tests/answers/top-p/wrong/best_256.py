# family: core
# mistake: none
"""Looks at the best 256 tokens only."""

import torch
from torch import Tensor


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    if p >= 1:
        return logits
    probs = torch.softmax(logits, dim=-1)
    descending, ids = probs.sort(dim=-1, descending=True, stable=True)
    before = descending.cumsum(dim=-1) - descending
    outside = before >= p
    outside[..., 256:] = True
    outside[..., 0] = False
    removed = torch.empty_like(outside).scatter(-1, ids, outside)
    return logits.masked_fill(removed, float("-inf"))
