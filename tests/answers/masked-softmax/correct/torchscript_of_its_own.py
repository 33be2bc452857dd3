import torch
from torch import Tensor


@torch.jit.script
def _weights(scores: Tensor, mask: Tensor, dim: int) -> Tensor:
    hidden = torch.logical_not(mask)
    return torch.softmax(scores.masked_fill(hidden, float("-inf")), dim).masked_fill(hidden, 0.0)


def masked_softmax(scores, mask=None, dim=-1):
    if mask is None:
        return torch.softmax(scores, dim)
    return _weights(scores, mask, dim)
