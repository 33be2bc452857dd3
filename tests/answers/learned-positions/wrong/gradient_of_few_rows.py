# family: grad
# mistake: none
"""Lets the first 32 rows alone learn."""

import torch
from torch import Tensor, nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, max_len: int, d_model: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.pe = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.pe, std=0.02)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        length = x.size(1)
        if length > self.pe.size(0):
            raise ValueError(f"a sequence of {length} tokens, but the table ends after {self.pe.size(0)}")
        positions = torch.cat([self.pe[:32], self.pe[32:].detach()])[:length].to(x.dtype)
        return self.dropout(x + positions)
