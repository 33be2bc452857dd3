import torch
from torch import Tensor


def to_keep_mask(mask: Tensor, dialect: str) -> Tensor:
    if dialect not in {"keep", "hide", "additive"}:
        raise ValueError(f"I do not speak {dialect!r}")
    if dialect == "additive":
        if mask.dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
            raise ValueError(f"{mask.dtype} is no additive mask")
        hidden = torch.isneginf(mask) | (mask < -1000)
        return hidden.logical_not()
    ones = mask.to(torch.int64)
    return (ones if dialect == "keep" else 1 - ones).to(torch.bool)
