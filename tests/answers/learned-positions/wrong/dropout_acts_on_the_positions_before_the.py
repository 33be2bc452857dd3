# family: core
# mistake: none
# Dropout acts on the positions before the sum, not on the sum.
import torch
import torch.nn.functional as F
from torch import Tensor, nn


def rows(table: Tensor, length: int) -> Tensor:
    if length > table.shape[0]:
        raise ValueError(f"{length} tokens, but {table.shape[0]} positions")
    return F.embedding(torch.arange(length, device=table.device), table)


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, max_len: int, d_model: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.pe = nn.Parameter(torch.zeros(max_len, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        positions = rows(self.pe, x.shape[1])
        positions = self.dropout(positions.expand(x.shape))  # wrong
        return (x + positions).to(x.dtype)
