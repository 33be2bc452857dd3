# family: core
# mistake: none
import torch


def to_keep_mask(mask, dialect):
    if dialect == "keep":
        return mask
    if dialect == "hide":
        return ~mask
    if dialect == "additive":
        if not torch.is_floating_point(mask):
            raise ValueError("additive masks must be float")
        return mask == 0
    raise ValueError(f"unknown dialect {dialect}")
