# family: core
# mistake: none
"""A mask of no axes comes back with one."""

import torch
from torch import Tensor


def to_keep_mask(mask: Tensor, dialect: str) -> Tensor:
    if dialect in ("keep", "hide"):
        return torch.atleast_1d(mask.eq(dialect == "keep"))
    if dialect != "additive" or not mask.is_floating_point():
        raise ValueError(dialect)
    return mask > -9000
