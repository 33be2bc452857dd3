"""Multi-head attention."""

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Multi-head attention with the projections W_q, W_k, W_v, W_o (nn.Linear, d_model to d_model each).

    d_model  width of queries, keys, values and output; ValueError where n_heads does not divide it
    n_heads  number of heads, each d_head = d_model // n_heads wide
    dropout  acts on the attention weights, in training only
    bias     whether the four projections have a bias
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        raise NotImplementedError("your turn: four projections, heads and a dropout")

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from n queries to m keys.

        q     (B, n, d_model)
        k, v  (B, m, d_model)
        mask  bool, True = this key may be attended to; (n, m), (B, n, m), (B, 1, n, m), (B, 1, 1, m)
              or (B, H, n, m), axes of size 1 broadcast; three axes are per batch; None = everything is visible

        Returns (output (B, n, d_model), weights (B, H, n, m)), the weights before dropout.
        A query that may attend to nothing gets weights 0 and a context of 0.
        """
        raise NotImplementedError("your turn: project, split, attend, concatenate, project")
