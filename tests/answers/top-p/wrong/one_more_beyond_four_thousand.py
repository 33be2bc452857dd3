# family: core
# mistake: none
"""Keeps one token too many of a vocabulary beyond 4000."""

import torch
from torch import Tensor


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    if p >= 1:
        return logits.clone()
    wide = logits.double()
    order = torch.argsort(-wide, dim=-1, stable=True)
    places = torch.arange(order.shape[-1], device=order.device).expand_as(order).contiguous()
    rank = torch.empty_like(order).scatter_(-1, order, places)
    share = torch.softmax(wide, -1).gather(-1, order).cumsum(-1)
    size = (share < p).sum(-1, keepdim=True) + 1 + (share.shape[-1] > 4000)
    return torch.where(rank < size, logits, float("-inf"))
