# family: core
# mistake: none
# The exponent is i / ceil(d_model / 2) instead of 2i / d_model, which differs where d_model is odd.
import torch
from torch import Tensor, nn


def sinusoidal_encoding(max_len: int, d_model: int, base: float = 10000.0) -> Tensor:
    pairs = (d_model + 1) // 2
    i = torch.arange(pairs, dtype=torch.float64)
    w = base ** (-i / pairs)  # wrong
    angles = torch.arange(max_len, dtype=torch.float64)[:, None] * w
    table = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
    return table[:, :d_model].to(torch.float32).contiguous()


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 1000, dropout: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        S = x.shape[1]
        if S > self.pe.shape[0]:
            raise ValueError(f"{S} tokens, but only {self.pe.shape[0]} positions")
        return self.dropout((x + self.pe[:S]).to(x.dtype))
