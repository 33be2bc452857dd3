"""Position-wise feed-forward network: the same two layers for every token.

    FFN(x) = max(0, x W_1 + b_1) W_2 + b_2

Vaswani et al. 2017, "Attention Is All You Need" (arXiv:1706.03762), section 3.3.
"""

import torch
from torch import Tensor, nn


class PositionWiseFFN(nn.Module):
    """Two linear layers with a ReLU between them, for each token by itself.

    d_model  width of the tokens
    d_ff     width of the hidden layer
    d_out    width of the result; None = d_model
    dropout  probability of dropping a hidden unit, in training

    Attributes: dense1 (nn.Linear, d_model to d_ff) and dense2 (nn.Linear, d_ff to d_out).
    """

    def __init__(self, d_model: int, d_ff: int, d_out: int | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model if d_out is None else d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(..., d_model) to (..., d_out)."""
        hidden = torch.relu(self.dense1(x))  # (..., d_ff)
        return self.dense2(self.dropout(hidden))
