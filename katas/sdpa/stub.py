"""Scaled dot-product attention."""

import torch
from torch import Tensor


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Attention of n queries over m keys, with any number of leading dimensions.

    q     (..., n, d_k)
    k     (..., m, d_k)
    v     (..., m, d_v)
    mask  bool, broadcasts to (..., n, m), True = this key may be attended to; None = everything is visible

    Returns (output (..., n, d_v), weights (..., n, m)). A query that may attend to nothing
    gets weights 0 and output 0.
    """
    raise NotImplementedError("your turn: softmax(q kᵀ / √d_k) v")
