# family: core
# mistake: only-infinity-hides
# In the additive dialect only -inf counts as hidden, so that -1e9 or -1e4 are taken for visible.
import torch
from torch import Tensor


def to_keep_mask(mask: Tensor, dialect: str) -> Tensor:
    """Translate a mask into 'True = may be attended to'."""
    if dialect == "keep":
        return mask.to(torch.bool)
    if dialect == "hide":
        return torch.logical_not(mask)
    if dialect == "additive":
        if not mask.is_floating_point():
            raise ValueError(f"an additive mask is made of floats, not of {mask.dtype}")
        return mask != float("-inf")  # wrong
    raise ValueError(f"unknown dialect {dialect!r}")
