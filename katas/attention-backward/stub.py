"""The backward pass of scaled dot-product attention, by hand."""

import torch
from torch import Tensor


def attention_backward(
    q: Tensor, k: Tensor, v: Tensor, d_output: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of a loss through attention, with any number of leading dimensions.

        output = softmax(q kᵀ / √d_k) v

    q         (..., n, d_k)
    k         (..., m, d_k)
    v         (..., m, d_v)
    d_output  (..., n, d_v), the gradient of the loss with respect to output
    mask      bool, broadcasts to (..., n, m), True = this key may be attended to; None = everything is visible

    Returns (dq, dk, dv), the gradients with respect to q, k and v, in their shapes and their dtype. A query that may
    attend to nothing has an output of 0 whatever it is: it adds nothing to any of them.
    """
    raise NotImplementedError("your turn: the weights once more, then back through product, softmax and scores")
