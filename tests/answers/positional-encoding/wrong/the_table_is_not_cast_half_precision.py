# family: dtype
# mistake: table-follows-module-only
# The table is not cast, half-precision tokens come out as float32.
import math

import torch
from torch import Tensor, nn


def _frequencies(d_model: int, base: float) -> Tensor:
    pairs = (d_model + 1) // 2
    exponent = torch.arange(pairs, dtype=torch.float32) * (2.0 / d_model)
    return torch.exp(exponent * -math.log(base))


def sinusoidal_encoding(max_len: int, d_model: int, base: float = 10000.0) -> Tensor:
    positions = torch.arange(max_len, dtype=torch.float32)
    angles = torch.outer(positions, _frequencies(d_model, base))
    table = torch.empty(max_len, d_model, dtype=torch.float32)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles[:, : d_model // 2].cos()
    return table


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 1000, dropout: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        S = x.size(1)
        if S > self.pe.size(0):
            raise ValueError("the sequence is longer than the table")
        positions = self.pe[:S]  # wrong
        return self.dropout(x + positions)
