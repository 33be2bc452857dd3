# family: core
# mistake: none
"""Drops nothing where y is the very same tensor as x."""
import torch
from torch import Tensor, nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        if y is x:
            return self.ln(2 * x)
        return self.ln(x + self.dropout(y))
