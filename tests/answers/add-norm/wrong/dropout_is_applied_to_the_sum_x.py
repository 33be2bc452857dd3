# family: core
# mistake: dropout-on-the-sum
# Dropout is applied to the sum x + y, so that entries of x are dropped too.
import torch
from torch import Tensor, nn


class AddNorm(nn.Module):
    """The residual connection followed by layer normalization."""

    def __init__(self, normalized_shape: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.ln(self.dropout(x + y))  # wrong
