# family: core
# mistake: none
# The lengths of the sequences are repeated as a whole (repeat) instead of one by one (repeat_interleave).
from typing import Optional

import torch
from torch import Tensor


def _sequence_mask(rows: Tensor, lens: Tensor) -> Tensor:
    """rows (R, m), lens (R,): True before the length."""
    steps = torch.arange(rows.size(1), dtype=torch.int64, device=rows.device)
    return steps.unsqueeze(0) < lens.unsqueeze(1)


def masked_softmax(scores: Tensor, valid_lens: Optional[Tensor] = None) -> Tensor:
    if valid_lens is None:
        return torch.softmax(scores, dim=-1)
    shape = scores.shape
    if valid_lens.dim() == 1:
        lens = valid_lens.repeat(shape[1])  # wrong
    else:
        lens = valid_lens.reshape(-1)
    rows = scores.reshape(-1, shape[-1])
    keep = _sequence_mask(rows, lens)
    weights = rows.masked_fill(~keep, -torch.inf).softmax(dim=-1)
    return torch.where(keep, weights, torch.zeros_like(weights)).reshape(shape)
