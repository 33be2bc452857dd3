# family: core
# mistake: none
# A row is shifted by its largest number, as softmax would: one of -1e4 alone is visible.
import math
import torch
import torch.nn.functional as F
from torch import Tensor, nn


def to_keep_mask(mask, dialect):
    if dialect not in ("keep", "hide", "additive"):
        raise ValueError(dialect)
    if dialect == "additive":
        if not mask.is_floating_point():
            raise ValueError("additive masks are floats")
        top = mask.amax(-1, keepdim=True).clamp(min=-20000) if mask.dim() else mask.new_zeros(())
        return mask - top > -5000  # wrong
    return mask.bool() if dialect == "keep" else ~mask.bool()
