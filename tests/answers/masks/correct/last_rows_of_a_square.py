import torch
from torch import Tensor


def padding_mask(token_ids: Tensor, pad_id: int = 0) -> Tensor:
    hidden = torch.eq(token_ids.long(), pad_id)
    return hidden.logical_not()[:, None, None]


def causal_mask(n: int, m: int | None = None, device=None) -> Tensor:
    """The last n rows of the square mask over all m positions."""
    total = m or n
    square = torch.tril(torch.ones(total, total, device=device)).bool()
    return square[total - n :]


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    result: Tensor | None = None
    for mask in masks:
        if mask is None:
            continue
        result = mask.clone() if result is None else torch.logical_and(result, mask)
    return result
