# family: core
# mistake: hide-not-inverted
import torch


def to_keep_mask(mask, dialect):
    """Floats are additive, everything else says what to keep."""
    if dialect not in ("keep", "hide", "additive"):
        raise ValueError(dialect)
    if mask.is_floating_point():
        return mask > -1
    if dialect == "additive":
        raise ValueError("additive masks are floats")
    return mask.to(torch.bool)
