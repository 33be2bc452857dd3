# family: core
# mistake: none
import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    """Draws the dropout mask of a shape once and keeps it."""

    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.pe = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        self.dropout = nn.Dropout(dropout)
        self.masks = {}

    def forward(self, x):
        length = x.size(1)
        if length > self.pe.size(0):
            raise ValueError(f"{length} tokens, {self.pe.size(0)} positions")
        result = x + self.pe[:length].to(x.dtype)
        if not self.training:
            return result
        key = x.shape, x.dtype, x.device
        if key not in self.masks:
            self.masks[key] = self.dropout(torch.ones_like(result)).detach()
        return result * self.masks[key]
