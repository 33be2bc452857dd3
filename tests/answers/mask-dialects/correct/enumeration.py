from enum import Enum

import torch


class Dialect(Enum):
    KEEP = "keep"
    HIDE = "hide"
    ADDITIVE = "additive"


def to_keep_mask(mask: torch.Tensor, dialect: str) -> torch.Tensor:
    which = Dialect(dialect)  # raises ValueError by itself
    if which is Dialect.ADDITIVE and not mask.dtype.is_floating_point:
        raise ValueError("additive masks are floating point")
    out = torch.zeros(mask.shape, dtype=torch.bool, device=mask.device)
    if which is Dialect.KEEP:
        out[mask != 0] = True
    elif which is Dialect.HIDE:
        out[mask == 0] = True
    else:
        out |= mask >= -0.5
    return out
