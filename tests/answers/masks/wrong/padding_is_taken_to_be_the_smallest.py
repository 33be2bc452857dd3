# family: core
# mistake: tokens-above-pad-id
# Padding is taken to be the smallest id, so with a pad_id above other ids these are hidden as well.
from functools import reduce

import torch
from torch import Tensor


def padding_mask(token_ids: Tensor, pad_id: int = 0) -> Tensor:
    real = token_ids > pad_id  # wrong
    return real[:, None, None, :]


def causal_mask(n: int, m: int | None = None, device: torch.device | str | None = None) -> Tensor:
    if m is None:
        m = n
    query_positions = torch.arange(m - n, m, device=device)
    key_positions = torch.arange(m, device=device)
    return key_positions[None, :] <= query_positions[:, None]


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    given = [mask for mask in masks if mask is not None]
    return reduce(torch.logical_and, given) if given else None
