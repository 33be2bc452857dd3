# family: grad
# mistake: table-from-data
import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.pe = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        if x.size(1) > self.pe.size(0):
            raise ValueError("too long")
        with torch.no_grad():
            positions = self.pe[: x.size(1)].to(x.dtype)
        return self.dropout(x + positions)
