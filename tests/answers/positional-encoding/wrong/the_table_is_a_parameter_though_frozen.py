# family: core
# mistake: none
# The table is a parameter (though frozen), not a buffer.
import math

import torch
from torch import nn


def sinusoidal_encoding(max_len, d_model, base=10000.0):
    table = torch.zeros(max_len, d_model, dtype=torch.float32)
    position = torch.arange(max_len, dtype=torch.float32).unsqueeze(1)
    # exp(-2i/d * ln(base)), the usual trick
    div = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float32) * (-math.log(base) / d_model))
    table[:, 0::2] = torch.sin(position * div)
    table[:, 1::2] = torch.cos(position * div[: d_model // 2])
    return table


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        self.max_len = max_len
        # batch axis in front, so that it broadcasts
        pe = sinusoidal_encoding(max_len, d_model).unsqueeze(0)
        self.pe = nn.Parameter(pe, requires_grad=False)  # wrong

    def forward(self, x):
        if x.size(1) > self.max_len:
            raise ValueError("sequence too long")
        x = x + self.pe[:, : x.size(1)].to(x.dtype)
        return self.dropout(x)
