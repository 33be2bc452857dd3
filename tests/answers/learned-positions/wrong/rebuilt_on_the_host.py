# family: device
# mistake: index-on-cpu
import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.pe = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        self.position = torch.arange(max_len)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        if x.size(1) > self.pe.size(0):
            raise ValueError("too long")
        rows = self.pe.index_select(0, self.position[: x.size(1)])
        return self.dropout(x + rows.to(x.dtype))
