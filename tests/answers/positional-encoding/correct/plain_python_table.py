import math

import torch
import torch.nn.functional as F


def entry(position, column, d_model, base):
    angle = position / base ** ((column - column % 2) / d_model)
    return math.cos(angle) if column % 2 else math.sin(angle)


def sinusoidal_encoding(max_len: int, d_model: int, base: float = 10000.0) -> torch.Tensor:
    return torch.tensor([[entry(p, c, d_model, base) for c in range(d_model)] for p in range(max_len)])


class PositionalEncoding(torch.nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.p = dropout
        self.max_len = max_len
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model), persistent=False)

    def forward(self, x):
        S = x.shape[-2]
        if S > self.max_len:
            raise ValueError(f"{S} > {self.max_len}")
        return F.dropout(x + self.pe[:S].type_as(x), self.p, self.training)
