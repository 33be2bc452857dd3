# family: core
# mistake: only-the-lowest-hides
# Additive masks are compared with the dtype's lowest number, so -1e4, -1e9 and the like count as visible.
"""Masks of three dialects, translated into one."""

import torch
from torch import Tensor


def to_keep_mask(mask: Tensor, dialect: str) -> Tensor:
    if dialect == "keep":
        return mask != 0
    if dialect == "hide":
        return mask == 0
    if dialect == "additive":
        if not torch.is_floating_point(mask):
            raise ValueError("an additive mask must be floating point")
        return mask > torch.finfo(mask.dtype).min  # wrong
    raise ValueError(f"unknown dialect {dialect!r}")
