"""SwiGLU: the feed-forward network with a gate, as Llama has it."""

import torch
from torch import Tensor, nn


class SwiGLU(nn.Module):
    """Three linear layers without biases: a gate, the values that it lets through, and the way back.

        y = w2(silu(w1 x) * w3 x)        silu(h) = h * sigmoid(h)

    d_model  width of the tokens
    d_ff     width of the hidden layer

    Attributes: w1 and w3 (nn.Linear, d_model to d_ff), w2 (nn.Linear, d_ff to d_model).
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        raise NotImplementedError("your turn: three layers without biases")

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) to (..., d_model)."""
        raise NotImplementedError("your turn: gate, values, product, w2")
