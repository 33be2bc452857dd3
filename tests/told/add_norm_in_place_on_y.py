# kata: add-norm
# names:
from __future__ import annotations

import torch
from torch import nn


class AddNorm(nn.Module):
    """The sublayer's output, dropped out, then the sum, then the norm."""

    def __init__(self, normalized_shape, dropout: float = 0.0) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.drop_shortcut = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        shortcut = x
        sublayer_output = self.drop_shortcut(y)
        sublayer_output += shortcut  # wrong
        summed = sublayer_output
        return self.ln(summed)
