import torch
from torch import nn
from torch.nn import functional as F


def sinusoidal_encoding(max_len, d_model, base=10000.0):
    i = torch.arange(d_model // 2 + d_model % 2, dtype=torch.float32)
    angle = torch.arange(max_len, dtype=torch.float32).view(-1, 1) / (base ** (2 * i / d_model))
    table = torch.empty(max_len, d_model)
    for column in range(d_model):
        wave = torch.cos if column % 2 else torch.sin
        table[:, column] = wave(angle[:, column // 2])
    return table


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.max_len = max_len
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))

    def forward(self, x):
        length = x.shape[1]
        if length > self.max_len:
            raise ValueError(f"at most {self.max_len} positions, got {length}")
        index = torch.arange(length, device=x.device)
        summed = x + F.embedding(index, self.pe)
        return self.dropout(summed.to(x.dtype))
