# family: core
# mistake: none
# Combine_masks writes the result into the first mask that it was handed.
"""Masks, production flavour."""

from typing import Optional, Union

import torch
from torch import Tensor

Device = Optional[Union[torch.device, str]]


def padding_mask(token_ids: Tensor, pad_id: int = 0) -> Tensor:
    batch, length = token_ids.shape
    return torch.logical_not(token_ids == pad_id).view(batch, 1, 1, length)


def causal_mask(n: int, m: Optional[int] = None, device: Device = None) -> Tensor:
    total = n if m is None else m
    future = torch.ones(n, total, dtype=torch.bool, device=device).triu(total - n + 1)
    return ~future


def combine_masks(*masks: Optional[Tensor]) -> Optional[Tensor]:
    todo = [mask for mask in masks if mask is not None]
    if not todo:
        return None
    out = todo.pop(0)
    for mask in todo:
        if torch.broadcast_shapes(out.shape, mask.shape) == out.shape:
            out.logical_and_(mask)  # wrong
        else:
            out = torch.logical_and(out, mask)
    return out
