# family: core
# mistake: none
"""Takes the nucleus of the first batch for all batches where there are three or more."""

import torch
from torch import Tensor


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    if p >= 1:
        return logits
    probs = torch.softmax(logits, dim=-1)
    descending, ids = probs.sort(dim=-1, descending=True, stable=True)
    before = descending.cumsum(dim=-1) - descending
    outside = before >= p
    outside[..., 0] = False
    if logits.dim() > 2 and logits.size(0) > 2:
        outside = outside[:1].expand_as(outside).contiguous()
    removed = torch.empty_like(outside).scatter(-1, ids, outside)
    return logits.masked_fill(removed, float("-inf"))
