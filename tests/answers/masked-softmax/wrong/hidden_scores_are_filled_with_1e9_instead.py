# family: mask
# mistake: fill-1e9
# Hidden scores are filled with -1e9 instead of -inf: visible scores far below that lose to hidden ones.
import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    if mask is None:
        return torch.softmax(scores, dim=dim)
    hidden = mask.logical_not()
    filled = scores.masked_fill(hidden, -1e9)  # wrong
    weights = torch.softmax(filled, dim=dim)
    return weights.masked_fill(hidden, 0.0)
