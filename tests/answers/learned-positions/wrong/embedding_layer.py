# family: core
# mistake: embedding-layer
import torch
from torch import nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, max_len, d_model, dropout=0.0):
        super().__init__()
        self.max_len = max_len
        self.pe = nn.Embedding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        if x.size(1) > self.max_len:
            raise ValueError("too long")
        return self.dropout(x + self.pe(torch.arange(x.size(1), device=x.device)).to(x.dtype))
