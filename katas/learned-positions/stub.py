"""Learned positions: a trained vector for each place in the sequence."""

import torch
from torch import Tensor, nn


class LearnedPositionalEncoding(nn.Module):
    """Add a learned vector to each token, by its position, then drop out.

    max_len  number of positions in the table
    d_model  width of the tokens
    dropout  probability of dropping an entry of the sum, in training

    Parameter: pe (max_len, d_model).
    """

    def __init__(self, max_len: int, d_model: int, dropout: float = 0.0) -> None:
        super().__init__()
        raise NotImplementedError("your turn: a table that is trained, and a dropout")

    def forward(self, x: Tensor) -> Tensor:
        """Return dropout(x + positions) for x (B, S, d_model): same shape, dtype and device as x.

        Raises ValueError when S exceeds max_len.
        """
        raise NotImplementedError("your turn: add, then drop out")
