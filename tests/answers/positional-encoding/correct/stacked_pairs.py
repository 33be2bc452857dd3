import torch
from torch import Tensor, nn


def sinusoidal_encoding(max_len, d_model, base=10000.0):
    half = (d_model + 1) // 2
    frequencies = torch.pow(base, -2.0 * torch.arange(half, dtype=torch.float32) / d_model)
    angles = torch.outer(torch.arange(max_len).float(), frequencies)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).reshape(max_len, 2 * half)[:, :d_model].contiguous()


class PositionalEncoding(nn.Module):
    pe: Tensor

    def __init__(self, d_model, max_len=1000, dropout=0.0):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model)[None])

    def forward(self, x):
        B, S, _ = x.shape
        if self.pe.shape[1] < S:
            raise ValueError("no position left for the last tokens")
        rows = self.pe.narrow(1, 0, S).expand(B, -1, -1)
        return self.drop(torch.add(x, rows.to(x)))
