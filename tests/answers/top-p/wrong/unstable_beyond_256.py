# family: core
# mistake: none
"""Sorts without keeping the order of equal ones in large vocabularies."""

import torch
from torch import Tensor


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    if p >= 1:
        return logits
    probs = torch.softmax(logits, dim=-1)
    descending, ids = probs.sort(dim=-1, descending=True, stable=True)
    if probs.size(-1) > 256:
        descending, ids = probs.flip(-1).sort(dim=-1, descending=True, stable=True)
        ids = probs.size(-1) - 1 - ids
    before = descending.cumsum(dim=-1) - descending
    outside = before >= p
    outside[..., 0] = False
    removed = torch.empty_like(outside).scatter(-1, ids, outside)
    return logits.masked_fill(removed, float("-inf"))
