# family: core
# mistake: none
"""Takes a token of zeros for padding, and gives it zeros."""
import torch
from torch import Tensor, nn


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model: int, d_ff: int, d_out: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model if d_out is None else d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        out = self.dense2(self.dropout(torch.relu(self.dense1(x))))
        real = (x != 0).any(dim=-1, keepdim=True)
        return out.masked_fill(~real, 0.0)
