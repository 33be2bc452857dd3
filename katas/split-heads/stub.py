"""Split a sequence into heads, and put it together again."""

import torch
from torch import Tensor


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(B, S, d_model) to (B, H, S, d_head) with d_head = d_model // n_heads.

    Head h holds features h * d_head to (h + 1) * d_head - 1 of each token.
    Raises ValueError where n_heads does not divide d_model.
    """
    raise NotImplementedError("your turn: give each head its slice of every token")


def concat_heads(x: Tensor) -> Tensor:
    """(B, H, S, d_head) back to (B, S, d_model): the inverse of split_heads."""
    raise NotImplementedError("your turn: put the slices of each token side by side again")
