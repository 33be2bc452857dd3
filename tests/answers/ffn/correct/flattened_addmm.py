import torch
from torch import Tensor, nn


class PositionWiseFFN(nn.Module):
    """All tokens of all sequences in one matrix."""

    def __init__(self, d_model: int, d_ff: int, d_out: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_out if d_out is not None else d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.reshape(-1, x.shape[-1])
        hidden = torch.addmm(self.dense1.bias, tokens, self.dense1.weight.t()).clamp(min=0)
        hidden = self.dropout(hidden)
        result = torch.addmm(self.dense2.bias, hidden, self.dense2.weight.t())
        return result.reshape(*x.shape[:-1], -1)
