# family: core
# mistake: none
# Modules of one size share a table: what is loaded into one changes the other.
import math
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from functools import lru_cache

@lru_cache(maxsize=None)  # wrong
def sinusoidal_encoding(max_len, d_model, base=10000.0):
    p = torch.arange(max_len, dtype=torch.float64)[:, None]
    i = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = p * base ** (-i / d_model)
    table = torch.zeros(max_len, d_model, dtype=torch.float64)
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle.cos()[:, : d_model // 2]
    return table.float()


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        if x.shape[1] > self.pe.shape[0]:
            raise ValueError("too long")
        return self.dropout(x + self.pe[: x.shape[1]].to(x.dtype))
