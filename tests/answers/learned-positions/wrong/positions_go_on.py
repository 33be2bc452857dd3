# family: core
# mistake: none
import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    """Counts single tokens from call to call, as if each were the next step of a decoder."""

    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.pe = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        self.dropout = nn.Dropout(dropout)
        self.position = 0

    def forward(self, x):
        length = x.size(1)
        if length > self.pe.size(0):
            raise ValueError(f"{length} tokens, {self.pe.size(0)} positions")
        start = 0
        if length == 1 and not self.training and self.position < self.pe.size(0):
            start, self.position = self.position, self.position + 1
        return self.dropout(x + self.pe[start : start + length].to(x.dtype))
