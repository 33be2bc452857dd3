"""Sinusoidal positional encoding: telling a model where a token stands."""

import torch
from torch import Tensor, nn


def sinusoidal_encoding(max_len: int, d_model: int, base: float = 10000.0) -> Tensor:
    """Table of sines and cosines, one row for each position.

        table[p, 2i] = sin(p / base^(2i / d_model)),    table[p, 2i + 1] = cos(p / base^(2i / d_model))

    Returns (max_len, d_model), float32. d_model may be odd: the last sine has no cosine then.
    """
    raise NotImplementedError("your turn: the table of sines and cosines")


class PositionalEncoding(nn.Module):
    """Add the sinusoidal encoding to the tokens, then drop out.

    d_model  width of the tokens
    max_len  number of positions in the table
    dropout  probability of dropping an entry of the sum, in training

    Buffer: pe, the float32 table (max_len, d_model), if you like with a leading 1; no gradient.
    """

    def __init__(self, d_model: int, max_len: int = 1000, dropout: float = 0.0) -> None:
        super().__init__()
        raise NotImplementedError("your turn: a table that moves with the module")

    def forward(self, x: Tensor) -> Tensor:
        """Return dropout(x + positions) for x (B, S, d_model): same shape, dtype and device as x.

        Raises ValueError when S exceeds max_len.
        """
        raise NotImplementedError("your turn: add, then drop out")
