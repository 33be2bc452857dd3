"""Masked softmax: attention weights over the visible keys only."""

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    """Softmax of `scores` along `dim`, over the visible entries only.

    scores  any floating-point tensor, usually (B, n, m) or (B, H, n, m)
    mask    bool, broadcasts to the scores, True = this key may be attended to; None = everything is visible
    dim     the axis of the keys

    Returns weights of the scores' shape and dtype: 0 where hidden, 1 in sum along `dim`,
    and all 0 where nothing is visible.
    """
    raise NotImplementedError("your turn: softmax over the visible keys")
