# family: core
# mistake: length-off-by-one
# Off by one, max_len tokens are refused.
import torch
from torch import nn


def sinusoidal_encoding(max_len, d_model, base=10000.0):
    """d2l style."""
    P = torch.zeros((max_len, d_model), dtype=torch.float32)
    X = torch.arange(max_len, dtype=torch.float32).reshape(-1, 1) / torch.pow(
        base, torch.arange(0, d_model, 2, dtype=torch.float32) / d_model
    )
    P[:, 0::2] = torch.sin(X)
    P[:, 1::2] = torch.cos(X)[:, : d_model // 2]
    return P


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.max_len = max_len
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))

    def forward(self, x):
        length = x.shape[1]
        if length >= self.max_len:  # wrong
            raise ValueError("too many tokens")
        X = x + self.pe[None, :length].to(x.dtype)
        return self.dropout(X)
