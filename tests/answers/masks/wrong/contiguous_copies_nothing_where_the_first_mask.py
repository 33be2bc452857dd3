# family: core
# mistake: combine-in-place
# Contiguous() copies nothing where the first mask has the full shape already, so that mask is modified.
import torch
from torch import Tensor


def padding_mask(token_ids: Tensor, pad_id: int = 0) -> Tensor:
    batch, length = token_ids.shape
    return token_ids.ne(pad_id).reshape(batch, 1, 1, length)


def causal_mask(n: int, m: int | None = None, device: torch.device | str | None = None) -> Tensor:
    positions = n if m is None else m
    future = torch.ones((n, positions), dtype=torch.bool, device=device).triu(diagonal=positions - n + 1)
    return ~future


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    present = [mask for mask in masks if mask is not None]
    if not present:
        return None
    shape = torch.broadcast_shapes(*(mask.shape for mask in present))
    result = present[0].expand(shape).contiguous()  # wrong
    for mask in present[1:]:
        result &= mask
    return result
