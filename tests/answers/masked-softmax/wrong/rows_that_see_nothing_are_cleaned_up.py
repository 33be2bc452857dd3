# family: grad
# mistake: additive-inf-gradient
# Rows that see nothing are cleaned up behind the softmax only, so their gradient is NaN.
import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    if mask is None:
        return scores.softmax(dim)
    mask = torch.broadcast_to(mask, scores.shape)
    bias = torch.zeros_like(scores).masked_fill(~mask, float("-inf"))
    weights = (scores + bias).softmax(dim)  # wrong
    return torch.where(mask, weights, torch.zeros_like(weights))
