# kata: positional-encoding
# names: halves-concatenated
import torch
from torch import nn


def sinusoidal_encoding(max_len, d_model, base=10000.0):
    pos = torch.arange(max_len, dtype=torch.float64)[:, None]
    i = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = pos / base ** (i / d_model)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)[:, :d_model].float()  # wrong


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model), persistent=False)

    def forward(self, x):
        if x.size(1) > len(self.pe):
            raise ValueError("too long")
        return self.dropout(x + self.pe[: x.size(1)].to(x))
