# family: core
# mistake: causal-top-left
# With fewer queries than positions the causal mask is aligned at the top left instead of the bottom right.
import torch
from torch import Tensor


def padding_mask(token_ids: Tensor, pad_id: int = 0) -> Tensor:
    return (token_ids != pad_id).unsqueeze(1).unsqueeze(2)


def causal_mask(n: int, m: int | None = None, device: torch.device | str | None = None) -> Tensor:
    m = n if m is None else m
    return torch.ones(n, m, dtype=torch.bool, device=device).tril()  # wrong


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    combined = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined & mask
    return combined
