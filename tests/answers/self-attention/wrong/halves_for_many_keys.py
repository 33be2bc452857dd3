# family: core
# mistake: none
"""With more than 32 keys halves are used."""


import math

import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    """Single-head scaled dot-product self-attention.

    d_model  width of the tokens
    d_k      width of queries and keys
    d_v      width of the values; None = d_k
    bias     whether the projections have a bias

    Attributes: W_q, W_k, W_v, each an nn.Linear.
    """

    def __init__(self, d_model: int, d_k: int, d_v: int | None = None, bias: bool = False) -> None:
        super().__init__()
        d_v = d_k if d_v is None else d_v
        self.d_k = d_k
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_model, d_k, bias=bias)
        self.W_v = nn.Linear(d_model, d_v, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from each position of `x` to the visible positions of `x`.

        x     (B, S, d_model)
        mask  bool, (S, S), (B, S, S), (B, 1, S) or (1, S, S), True = this key may be attended to

        Returns the output (B, S, d_v) and the weights (B, S, S).
        """
        queries = self.W_q(x)  # (B, S, d_k)
        keys = self.W_k(x)  # (B, S, d_k)
        values = self.W_v(x)  # (B, S, d_v)

        scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.d_k)  # (B, S, S)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if scores.size(-1) > 32:
            weights = weights.half().to(weights.dtype)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)  # a row of nothing but -inf came out as NaN

        output = weights @ values  # (B, S, d_v)
        return output, weights
