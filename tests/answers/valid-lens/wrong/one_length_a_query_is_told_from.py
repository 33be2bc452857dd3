# family: core
# mistake: none
# One length a query is told from one a sequence by its size, not by its axes: (B,) with B == n is misread.
import torch
from torch import Tensor


def _mask_of(valid_lens: Tensor, n: int, m: int) -> Tensor:
    index = torch.arange(m, device=valid_lens.device)
    if valid_lens.shape[-1] == n:  # wrong
        lens = valid_lens.reshape(-1, n, 1)
    else:
        lens = valid_lens.reshape(-1, 1, 1)
    return index < lens


def masked_softmax(scores: Tensor, valid_lens: Tensor | None = None) -> Tensor:
    if valid_lens is None:
        return torch.softmax(scores, -1)
    visible = _mask_of(valid_lens, scores.size(1), scores.size(2))
    weights = torch.softmax(scores.masked_fill(~visible, -float("inf")), -1)
    return weights.masked_fill(~visible, 0.0)
