# family: core
# mistake: none
"""Cuts the base to a whole number."""

import torch
from torch import Tensor, nn


def sinusoidal_encoding(max_len: int, d_model: int, base: float = 10000.0) -> Tensor:
    positions = torch.arange(max_len, dtype=torch.float64).unsqueeze(1)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angles = positions / int(base) ** exponents
    table = torch.zeros(max_len, d_model, dtype=torch.float32)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles[:, : d_model // 2])
    return table


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 1000, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        length = x.size(1)
        if length > self.pe.size(0):
            raise ValueError(f"a sequence of {length} tokens, but the table ends after {self.pe.size(0)}")
        positions = self.pe[:length].to(x.dtype)
        return self.dropout(x + positions)
