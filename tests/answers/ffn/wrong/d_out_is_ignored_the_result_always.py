# family: core
# mistake: d-out-ignored
# D_out is ignored: the result always has the width d_model.
from torch import Tensor, nn


class PositionWiseFFN(nn.Module):
    """Two linear layers with a ReLU between them."""

    def __init__(self, d_model: int, d_ff: int, d_out: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)  # wrong
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.dense1(x).relu()
        return self.dense2(self.dropout(hidden))
