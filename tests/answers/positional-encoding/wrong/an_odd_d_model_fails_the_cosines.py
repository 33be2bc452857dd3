# family: core
# mistake: odd-width-cut
# An odd d_model fails, the cosines are not cut to the columns there are.
import math
import torch
from torch import nn


def sinusoidal_encoding(max_len, d_model, base=10000.0):
    pe = torch.zeros(max_len, d_model, dtype=torch.float32)
    position = torch.arange(0, max_len, dtype=torch.float32).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float32) * -(math.log(base) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)  # wrong
    return pe


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model).unsqueeze(0))

    def forward(self, x):
        if x.size(1) > self.pe.size(1):
            raise ValueError("sequence too long")
        x = x + self.pe[:, : x.size(1)].to(x.dtype)
        return self.dropout(x)
