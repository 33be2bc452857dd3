"""Sinusoidal positional encoding: telling a model where a token stands.

    table[p, 2i] = sin(p / base^(2i / d_model)),    table[p, 2i + 1] = cos(p / base^(2i / d_model))

Vaswani et al. 2017, "Attention Is All You Need" (arXiv:1706.03762), section 3.5.
"""

import torch
from torch import Tensor, nn


def sinusoidal_encoding(max_len: int, d_model: int, base: float = 10000.0) -> Tensor:
    """Table of sines and cosines, one row for each position.

    Returns (max_len, d_model), float32. d_model may be odd: the last sine has no cosine then.
    """
    # In float64 until the end: at position 700 float32 angles have lost three digits.
    positions = torch.arange(max_len, dtype=torch.float64).unsqueeze(1)  # (max_len, 1)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model  # (ceil(d_model/2),)
    angles = positions / base**exponents  # (max_len, ceil(d_model/2))

    table = torch.zeros(max_len, d_model, dtype=torch.float32)  # (max_len, d_model)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles[:, : d_model // 2])
    return table


class PositionalEncoding(nn.Module):
    """Add the sinusoidal encoding to the tokens, then drop out.

    d_model  width of the tokens
    max_len  number of positions in the table
    dropout  probability of dropping an entry of the sum, in training

    Buffer: pe, the float32 table (max_len, d_model); no gradient.
    """

    def __init__(self, d_model: int, max_len: int = 1000, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return dropout(x + positions) for x (B, S, d_model): same shape, dtype and device as x.

        Raises ValueError when S exceeds max_len.
        """
        length = x.size(1)
        if length > self.pe.size(0):
            raise ValueError(f"a sequence of {length} tokens, but the table ends after {self.pe.size(0)}")
        positions = self.pe[:length].to(x.dtype)  # (S, d_model)
        return self.dropout(x + positions)  # (B, S, d_model)
