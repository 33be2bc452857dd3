# family: core
# mistake: dropout-on-the-input
# Dropout drops features of the tokens that come in, not hidden units.
from torch import Tensor, nn


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model: int, d_ff: int, d_out: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        d_out = d_model if d_out is None else d_out
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_out)
        self.relu = nn.ReLU()
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(self.relu(self.dense1(self.dropout(x))))  # wrong
