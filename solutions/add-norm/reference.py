"""Add and norm: the residual connection around a sublayer, and the norm behind it.

    AddNorm(x, y) = LayerNorm(x + dropout(y))        y = Sublayer(x)

Vaswani et al. 2017, "Attention Is All You Need" (arXiv:1706.03762), sections 3.1 and 5.4.
"""

from torch import Tensor, nn


class AddNorm(nn.Module):
    """Add what a sublayer returned to what went into it, then normalise.

    normalized_shape  width of the last axis
    dropout           probability of dropping an entry of the sublayer's output, in training

    Attribute: ln, an nn.LayerNorm.
    """

    def __init__(self, normalized_shape: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ln(x + dropout(y)).

        x  (..., d), what went into the sublayer
        y  (..., d), what came out of it
        """
        residual = x + self.dropout(y)  # (..., d)
        return self.ln(residual)  # (..., d)
