# kata: learned-positions
# names: float32-detour
import torch
from torch import Tensor, nn


class LearnedPositionalEncoding(nn.Module):
    def __init__(self, max_len: int, d_model: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.pe = nn.Parameter(torch.zeros(max_len, d_model))
        self.dropout = nn.Dropout(dropout)
        self._reset()

    def _reset(self) -> None:
        nn.init.trunc_normal_(self.pe, std=0.02)

    def _rows(self, length: int) -> Tensor:
        if length > self.pe.shape[0]:
            raise ValueError(f"only {self.pe.shape[0]} positions, got {length} tokens")
        return self.pe.narrow(0, 0, length)

    def forward(self, x: Tensor) -> Tensor:
        rows = self._rows(x.shape[-2])
        embedded = (x.to(rows.dtype) + rows).to(x.dtype)  # wrong
        return self.dropout(embedded)
