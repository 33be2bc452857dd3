# family: core
# mistake: none
"""Adds probabilities in float16."""

import torch
from torch import Tensor


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    if p >= 1:
        return logits
    probs = torch.softmax(logits, dim=-1)
    descending, ids = probs.sort(dim=-1, descending=True, stable=True)
    before = (descending.half().cumsum(dim=-1) - descending.half()).to(descending.dtype)
    outside = before >= p
    outside[..., 0] = False
    removed = torch.empty_like(outside).scatter(-1, ids, outside)
    return logits.masked_fill(removed, float("-inf"))
