# family: core
# mistake: only-the-lowest-hides
import torch


def to_keep_mask(mask, dialect):
    if dialect not in ("keep", "hide", "additive"):
        raise ValueError(dialect)
    if dialect == "additive":
        if not mask.is_floating_point():
            raise ValueError("additive masks must be float")
        return mask > torch.finfo(mask.dtype).min / 2
    mask = mask != 0
    return mask if dialect == "keep" else ~mask
