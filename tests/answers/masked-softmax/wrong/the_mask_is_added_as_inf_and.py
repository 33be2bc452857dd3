# family: grad
# mistake: additive-inf-gradient
# The mask is added as -inf and the NaN is wiped only in the result, so that rows without keys have NaN gradients.
from __future__ import annotations

import math

import torch
from torch import Tensor


def _bias_of(mask: Tensor, like: Tensor) -> Tensor:
    return torch.zeros(mask.shape, dtype=like.dtype, device=like.device).masked_fill_(mask.logical_not(), -math.inf)


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    if mask is None:
        return scores.softmax(dim)
    biased = scores + _bias_of(mask, scores)
    return biased.softmax(dim).nan_to_num(nan=0.0)  # wrong
