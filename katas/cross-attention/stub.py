"""Cross-attention with one head: one sequence looks at another."""

import torch
from torch import Tensor, nn


class CrossAttention(nn.Module):
    """Single-head scaled dot-product attention from one sequence to another.

    d_model    width of the tokens that ask
    d_k        width of queries and keys
    d_v        width of the values; None = d_k
    d_context  width of the tokens that are asked; None = d_model
    bias       whether the projections have a bias

    Attributes: W_q, W_k, W_v, each an nn.Linear.
    """

    def __init__(
        self, d_model: int, d_k: int, d_v: int | None = None, d_context: int | None = None, bias: bool = False
    ) -> None:
        super().__init__()
        raise NotImplementedError("your turn: the three projections")

    def forward(self, x_q: Tensor, x_kv: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from each position of `x_q` to the visible positions of `x_kv`.

        x_q   (B, n, d_model)
        x_kv  (B, m, d_context)
        mask  bool, (n, m), (B, n, m), (B, 1, m) or (1, n, m), True = this key may be attended to

        Returns the output (B, n, d_v) and the weights (B, n, m).
        """
        raise NotImplementedError("your turn: scores, weights, output")
