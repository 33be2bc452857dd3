# family: core
# mistake: rows-by-batch
import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    """x: (seq_len, batch, d_model)"""

    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.pe = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        if x.size(0) > self.pe.size(0):
            raise ValueError("too long")
        return self.dropout(x + self.pe[: x.size(0)].unsqueeze(1).to(x.dtype))
