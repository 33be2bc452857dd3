# family: core
# mistake: table-left-behind
# Pe is a plain attribute, not a buffer, and does not move with the module.
import torch
from torch import nn


def sinusoidal_encoding(max_len, d_model, base=10000.0):
    i = torch.arange(d_model)
    freq = base ** (-(2 * (i // 2)).to(torch.float32) / d_model)
    angles = torch.arange(max_len, dtype=torch.float32).unsqueeze(1) * freq
    return torch.where(i % 2 == 0, angles.sin(), angles.cos())


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.pe = sinusoidal_encoding(max_len, d_model)  # wrong
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        n = x.size(1)
        if n > self.pe.size(0):
            raise ValueError("S > max_len")
        return self.dropout(x + self.pe[:n].to(x.dtype))
