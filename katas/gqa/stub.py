"""Grouped-query attention."""

import torch
from torch import Tensor, nn


class GroupedQueryAttention(nn.Module):
    """Self-attention in which groups of query heads share key and value heads.

    d_model     width of tokens and output; ValueError where n_heads does not divide it
    n_heads     number of query heads, each d_head = d_model // n_heads wide
    n_kv_heads  number of key heads and of value heads; ValueError where it does not divide n_heads
    bias        whether the four projections have a bias

    Attributes, each an nn.Linear: W_q and W_o, d_model to d_model; W_k and W_v, d_model to n_kv_heads * d_head.
    """

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, bias: bool = False) -> None:
        super().__init__()
        raise NotImplementedError("your turn: four projections, two of them narrower")

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from all S tokens to all S tokens.

        x     (B, S, d_model)
        mask  bool, True = this key may be attended to; (S, S), (B, S, S), (B, 1, S, S), (B, 1, 1, S)
              or (B, H, S, S), axes of size 1 broadcast; three axes are per batch; None = everything is visible

        Returns (output (B, S, d_model), weights (B, H, S, S)).
        A query that may attend to nothing gets weights 0 and a context of 0.
        """
        raise NotImplementedError("your turn: project, split, share keys and values, attend, concatenate, project")
