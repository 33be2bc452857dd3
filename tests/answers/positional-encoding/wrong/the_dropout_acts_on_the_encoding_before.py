# family: core
# mistake: none
# The dropout acts on the encoding before it is added, not on the sum.
"""Positional encoding in the style of d2l.ai."""

import torch
from torch import Tensor, nn


def sinusoidal_encoding(max_len: int, d_model: int, base: float = 10000.0) -> Tensor:
    P = torch.zeros((max_len, d_model), dtype=torch.float32)
    X = torch.arange(max_len, dtype=torch.float64).reshape(-1, 1) / torch.pow(
        base, torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    )
    P[:, 0::2] = torch.sin(X).float()
    P[:, 1::2] = torch.cos(X).float()[:, : d_model // 2]
    return P


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 1000, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model)[None], persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] > self.pe.shape[1]:
            raise ValueError("the sequence is longer than max_len")
        X = x + self.dropout(self.pe[:, : x.shape[1], :].expand(x.shape))  # wrong
        return X.to(x.dtype)
