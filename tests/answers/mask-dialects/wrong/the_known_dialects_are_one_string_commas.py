# family: contract
# mistake: unknown-is-hide
# The known dialects are one string (commas forgotten), so that "hid" and "" pass the check as substrings.
from typing import Final

import torch
from torch import Tensor

DIALECTS: Final = (
    "keep"
    "hide"  # wrong
    "additive"
)


def to_keep_mask(mask: Tensor, dialect: str) -> Tensor:
    if dialect not in DIALECTS:
        raise ValueError(f"no such dialect: {dialect!r}")
    if dialect == "additive":
        if mask.dtype not in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
            raise ValueError("additive masks must be floating point")
        return mask.ge(-100)
    truth = mask != 0
    return truth if dialect == "keep" else ~truth
