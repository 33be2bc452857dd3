# family: core
# mistake: none
import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    """Learns a factor of the table beside the table."""

    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.pe = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        self.scale = nn.Parameter(torch.ones(()))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        length = x.size(1)
        if length > self.pe.size(0):
            raise ValueError(f"{length} tokens, {self.pe.size(0)} positions")
        return self.dropout(x + (self.scale * self.pe[:length]).to(x.dtype))
