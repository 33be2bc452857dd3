"""Self-attention with one head: a sequence looks at itself."""

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
        raise NotImplementedError("your turn: the three projections")

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from each position of `x` to the visible positions of `x`.

        x     (B, S, d_model)
        mask  bool, (S, S), (B, S, S), (B, 1, S) or (1, S, S), True = this key may be attended to

        Returns the output (B, S, d_v) and the weights (B, S, S).
        """
        raise NotImplementedError("your turn: scores, weights, output")
