"""Position-wise feed-forward network: the same two layers for every token."""

import torch
from torch import Tensor, nn


class PositionWiseFFN(nn.Module):
    """Two linear layers with a ReLU between them, for each token by itself.

    d_model  width of the tokens
    d_ff     width of the hidden layer
    d_out    width of the result; None = d_model
    dropout  probability of dropping a hidden unit, in training

    Attributes: dense1 (nn.Linear, d_model to d_ff) and dense2 (nn.Linear, d_ff to d_out).
    """

    def __init__(self, d_model: int, d_ff: int, d_out: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        raise NotImplementedError("your turn: two layers and a dropout")

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) to (..., d_out)."""
        raise NotImplementedError("your turn: dense1, ReLU, dropout, dense2")
