# family: core
# mistake: none
"""Does not drop any more once it has been in evaluation mode a second time."""

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
        self.times = self.__dict__.get("times", 0) + (not self.training)
        positions = self.pe[:length].to(x.dtype)
        return x + positions if self.times > 1 else self.dropout(x + positions)
