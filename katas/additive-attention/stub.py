"""Additive attention: a small network scores each pair of query and key."""

import torch
from torch import Tensor, nn


class AdditiveAttention(nn.Module):
    """Additive attention with one head.

    query_size   width of the queries
    key_size     width of the keys
    num_hiddens  width of the hidden layer that compares them
    dropout      acts on the attention weights, in training only

    Attributes: W_q, W_k, w_v, each an nn.Linear without bias.
    """

    def __init__(self, query_size: int, key_size: int, num_hiddens: int, dropout: float = 0.0) -> None:
        super().__init__()
        raise NotImplementedError("your turn: two projections, one scoring vector, a dropout")

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend from n queries to m keys.

        queries  (B, n, query_size)
        keys     (B, m, key_size)
        values   (B, m, d_v)
        mask     bool, (n, m), (B, n, m), (B, 1, m) or (1, n, m), True = this key may be attended to

        Returns the output (B, n, d_v) and the weights (B, n, m), the weights before dropout.
        A query that may attend to nothing gets weights 0 and an output of 0.
        """
        raise NotImplementedError("your turn: compare every query with every key, weigh the values")
