# kata: positional-encoding
# names: length-off-by-one, positions-from-one
import math

import torch
from torch import Tensor, nn


def sinusoidal_encoding(max_len: int, d_model: int, base: float = 10000.0) -> Tensor:
    if max_len < 1 or d_model < 1:
        raise ValueError(f"impossible table: {max_len} x {d_model}")
    feature = torch.arange(d_model)
    pair = torch.div(feature, 2, rounding_mode="floor").double()
    phase = (feature % 2).double() * (math.pi / 2)              # cos(a) = sin(a + pi/2)
    position = torch.arange(1, max_len + 1).double()  # wrong, named
    frequency = torch.exp(-2 * pair * math.log(base) / d_model)
    return torch.sin(torch.einsum("p,f->pf", position, frequency) + phase).float()


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 1000, dropout: float = 0.0) -> None:
        super().__init__()
        if not 0 <= dropout <= 1:
            raise ValueError(f"dropout is a probability, not {dropout}")
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model))
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        S = x.shape[1]
        if S >= len(self.pe):  # wrong, named
            raise ValueError(f"{S} positions needed, {len(self.pe)} there")
        total = (x + self.pe[:S].expand_as(x)).to(x.dtype)
        return nn.functional.dropout(total, self.dropout, self.training)
