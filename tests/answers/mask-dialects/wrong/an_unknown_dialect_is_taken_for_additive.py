# family: contract
# mistake: unknown-is-additive
# An unknown dialect is taken for "additive" instead of raising ValueError.
import torch
from torch import Tensor


def to_keep_mask(mask: Tensor, dialect: str) -> Tensor:
    if dialect == "keep":
        visible = torch.ne(mask, 0)
    elif dialect == "hide":
        visible = torch.eq(mask, 0)
    else:  # wrong
        holds_floats = mask.is_floating_point()
        if not holds_floats:
            raise ValueError("bools or integers cannot be added to scores")
        threshold = -9000.0
        hidden = mask < threshold
        visible = torch.logical_not(hidden)
    return visible
