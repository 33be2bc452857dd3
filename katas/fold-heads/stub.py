"""Heads folded into the batch: single-head attention code then computes many heads without knowing it."""

import torch
from torch import Tensor


def fold_heads(x: Tensor, n_heads: int) -> Tensor:
    """(B, S, d_model) to (B * H, S, d_head) with d_head = d_model // n_heads.

    Row b * H + h holds features h * d_head to (h + 1) * d_head - 1 of sequence b.
    Raises ValueError where n_heads does not divide d_model.
    """
    raise NotImplementedError("your turn: the heads of a sequence become rows of the batch")


def unfold_heads(x: Tensor, n_heads: int) -> Tensor:
    """(B * H, S, d_head) back to (B, S, d_model): the inverse of fold_heads."""
    raise NotImplementedError("your turn: the way back")


def repeat_valid_lens(valid_lens: Tensor | None, n_heads: int) -> Tensor | None:
    """Give each row of the folded batch the lengths of its sequence.

    (B,) to (B * H,), one length for each sequence; (B, n) to (B * H, n), one for each query; None stays None.
    """
    raise NotImplementedError("your turn: whose length does row b * H + h get?")
