# family: mask
# mistake: none
"""Hidden scores are filled with the lowest score minus ten thousand."""


import math

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
        d_v = d_k if d_v is None else d_v
        d_context = d_model if d_context is None else d_context
        self.d_k = d_k
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_v, bias=bias)

    def forward(self, x_q: Tensor, x_kv: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from each position of `x_q` to the visible positions of `x_kv`.

        x_q   (B, n, d_model)
        x_kv  (B, m, d_context)
        mask  bool, (n, m), (B, n, m), (B, 1, m) or (1, n, m), True = this key may be attended to

        Returns the output (B, n, d_v) and the weights (B, n, m).
        """
        queries = self.W_q(x_q)  # (B, n, d_k)
        keys = self.W_k(x_kv)  # (B, m, d_k)
        values = self.W_v(x_kv)  # (B, m, d_v)

        scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.d_k)  # (B, n, m)
        if mask is not None:
            scores = scores.masked_fill(~mask, scores.detach().min().item() - 1e4)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)  # a row of nothing but -inf came out as NaN

        output = weights @ values  # (B, n, d_v)
        return output, weights
