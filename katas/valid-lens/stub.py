"""Masked softmax by lengths: each sequence, or each query, sees the first so many keys."""

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, valid_lens: Tensor | None = None) -> Tensor:
    """Softmax of `scores` over the keys, of which only the first `valid_lens` are visible.

    scores      (B, n, m), floating point
    valid_lens  (B,), one length for each sequence, or (B, n), one for each query; int64, 0 to m;
                None = everything is visible

    Returns weights (B, n, m) in the scores' dtype: 0 behind the length, 1 in sum before it,
    and all 0 where the length is 0.
    """
    raise NotImplementedError("your turn: softmax over the first so many keys")
