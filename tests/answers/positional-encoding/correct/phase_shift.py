import math

import torch
import torch.nn as nn


def sinusoidal_encoding(max_len, d_model, base=10000.0):
    columns = torch.arange(d_model)
    rates = 1.0 / base ** ((columns // 2 * 2).double() / d_model)
    phase = (columns % 2) * (math.pi / 2)
    return torch.sin(torch.arange(max_len).double()[:, None] * rates[None] + phase[None]).float()


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.p_drop = dropout
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))

    def forward(self, x):
        S = x.size(1)
        if S > len(self.pe):
            raise ValueError("too long")
        out = x.clone()
        out += self.pe[:S]
        if not self.training or self.p_drop == 0:
            return out
        if self.p_drop == 1:
            return torch.zeros_like(out)
        keep = torch.rand_like(out) >= self.p_drop
        return out * keep / (1 - self.p_drop)
