import torch
from torch import nn


def sinusoidal_encoding(max_len, d_model, base=10000.0):
    """Row p is a set of unit vectors turned by p times their own angle; imaginary parts are the sines."""
    pairs = -(-d_model // 2)
    angle = torch.arange(max_len, dtype=torch.float64)[:, None] * base ** (-torch.arange(pairs, dtype=torch.float64) * 2 / d_model)
    turned = torch.polar(torch.ones_like(angle), angle)
    both = torch.view_as_real(turned).flip(-1).flatten(1)
    return both[:, :d_model].to(torch.float32)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model), persistent=True)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        n = x.size(1)
        if not n <= self.pe.size(0):
            raise ValueError("sequence longer than the table")
        return self.dropout((x + self.pe[None, :n, :]).type(x.dtype))
