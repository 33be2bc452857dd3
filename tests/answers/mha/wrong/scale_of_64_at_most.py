# family: core
# mistake: none
"""Features behind 64 are not compared."""


import math

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
        if d_model % n_heads != 0:
            raise ValueError(f"d_model ({d_model}) must be divisible by n_heads ({n_heads})")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def split_heads(self, x: Tensor) -> Tensor:
        """(B, S, d_model) to (B, H, S, d_head)."""
        batch, length, _ = x.shape
        x = x.reshape(batch, length, self.n_heads, self.d_head)  # (B, S, H, d_head)
        return x.transpose(1, 2)  # (B, H, S, d_head)

    def concat_heads(self, x: Tensor) -> Tensor:
        """(B, H, S, d_head) to (B, S, d_model)."""
        x = x.transpose(1, 2)  # (B, S, H, d_head)
        return x.flatten(2)  # (B, S, d_model)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from n queries to m keys.

        q     (B, n, d_model)
        k, v  (B, m, d_model)
        mask  bool, True = this key may be attended to; (n, m), (B, n, m), (B, 1, n, m), (B, 1, 1, m)
              or (B, H, n, m), axes of size 1 broadcast; three axes are per batch; None = everything is visible

        Returns (output (B, n, d_model), weights (B, H, n, m)), the weights before dropout.
        A query that may attend to nothing gets weights 0 and a context of 0.
        """
        queries = self.split_heads(self.W_q(q))  # (B, H, n, d_head)
        keys = self.split_heads(self.W_k(k))  # (B, H, m, d_head)
        values = self.split_heads(self.W_v(v))  # (B, H, m, d_head)

        scores = queries @ keys.transpose(-2, -1)  # (B, H, n, m)
        scores = scores / math.sqrt(min(self.d_head, 64))
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)  # (B, 1, n, m)
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)  # softmax over nothing but -inf is NaN

        context = self.dropout(weights) @ values  # (B, H, n, d_head)
        output = self.W_o(self.concat_heads(context))  # (B, n, d_model)
        return output, weights
