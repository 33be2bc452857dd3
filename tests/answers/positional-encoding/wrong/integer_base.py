# family: core
# mistake: none
# an int base: integer overflow for small ones
import torch
from torch import nn


def sinusoidal_encoding(max_len, d_model, base=10000.0):
    p = torch.arange(max_len, dtype=torch.float32)[:, None]
    f = (float(base) if base > 2 or not isinstance(base, int) else base + 1.0) ** (-torch.arange(0, d_model, 2, dtype=torch.float32) / d_model)
    t = torch.empty(max_len, d_model, dtype=torch.float32)
    t[:, 0::2] = (p * f).sin()
    t[:, 1::2] = (p * f[: d_model // 2]).cos()
    return t


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        S = x.shape[1]
        if S > self.pe.shape[-2]:
            raise ValueError("too long")
        return self.drop(x + self.pe[:S].to(x.dtype))
