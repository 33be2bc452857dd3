# family: core
# mistake: only-infinity-hides
import torch


def to_keep_mask(mask, dialect):
    if dialect == "keep":
        return mask.to(torch.bool)
    if dialect == "hide":
        return mask.to(torch.bool).logical_not()
    if dialect == "additive":
        if not mask.is_floating_point():
            raise ValueError("additive masks must be float")
        return ~torch.isinf(mask)
    raise ValueError(f"unknown dialect {dialect}")
