# family: core
# mistake: relu-twice
# The ReLU acts behind every layer, also behind the last one, so no result is below 0.
from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Widths:
    d_in: int
    hidden: int
    d_out: int

    @classmethod
    def of(cls, d_model: int, d_ff: int, d_out: int | None) -> Widths:
        return cls(d_model, d_ff, d_model if d_out is None else d_out)


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model: int, d_ff: int, d_out: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        widths = Widths.of(d_model, d_ff, d_out)
        self.dense1 = nn.Linear(widths.d_in, widths.hidden)
        self.dense2 = nn.Linear(widths.hidden, widths.d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        layers = [self.dense1, self.dense2]
        for number, layer in enumerate(layers):
            if number > 0:
                x = self.dropout(x)
            x = torch.relu(layer(x))  # wrong
        return x
