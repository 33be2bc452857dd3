"""Masks of three dialects, translated into one: True = this key may be attended to."""

import torch
from torch import Tensor


def to_keep_mask(mask: Tensor, dialect: str) -> Tensor:
    """Translate a mask of any shape into a bool mask of that shape, True = this key may be attended to.

    dialect "keep"      bool or 0/1 integers, true = visible
            "hide"      bool or 0/1 integers, true = hidden
            "additive"  floating point, to be added to the scores: 0 = visible, very negative or -inf = hidden

    Raises ValueError for an unknown dialect, and for bools or integers in the dialect "additive".
    """
    raise NotImplementedError("your turn: what does this mask say of each key?")
