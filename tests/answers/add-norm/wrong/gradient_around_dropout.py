# family: grad
# mistake: gradient-around-dropout
# Straight-through dropout: entries of y that were dropped still get a gradient.
from torch import Tensor, nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        noise = (self.drop(y) - y).detach()  # wrong
        return self.ln(x + y + noise)
