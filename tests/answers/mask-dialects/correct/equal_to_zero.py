import torch


def to_keep_mask(mask, dialect):
    if dialect == "keep":
        return mask.bool()
    elif dialect == "hide":
        return torch.logical_not(mask)
    elif dialect == "additive":
        if not torch.is_floating_point(mask):
            raise ValueError("an additive mask must be floating point")
        return mask == 0
    raise ValueError(f"unknown dialect: {dialect}")
