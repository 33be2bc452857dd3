# family: core
# mistake: padding-counted
# The padding is taken to stand at the end (lengths are counted), so padding in front or in between is visible.
import torch
from torch import Tensor


def padding_mask(token_ids: Tensor, pad_id: int = 0) -> Tensor:
    lengths = (token_ids != pad_id).sum(dim=-1)
    places = torch.arange(token_ids.shape[-1], device=token_ids.device)
    return (places[None, :] < lengths[:, None])[:, None, None, :]  # wrong


def causal_mask(n: int, m: int | None = None, device=None) -> Tensor:
    m = n if m is None else m
    query = torch.arange(m - n, m, device=device).unsqueeze(1)
    key = torch.arange(m, device=device).unsqueeze(0)
    return key <= query


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    result = None
    for mask in masks:
        if mask is None:
            continue
        result = mask if result is None else result & mask
    return result
