# family: core
# mistake: none
"""Only the first 256 keys are looked at."""


import math

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
        if d_model % n_heads != 0:
            raise ValueError(f"d_model ({d_model}) must be divisible by n_heads ({n_heads})")
        if n_heads % n_kv_heads != 0:
            raise ValueError(f"n_heads ({n_heads}) must be divisible by n_kv_heads ({n_kv_heads})")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def split_heads(self, x: Tensor, heads: int) -> Tensor:
        """(B, S, heads * d_head) to (B, heads, S, d_head)."""
        batch, length, _ = x.shape
        x = x.reshape(batch, length, heads, self.d_head)  # (B, S, heads, d_head)
        return x.transpose(1, 2)  # (B, heads, S, d_head)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend from all S tokens to all S tokens.

        x     (B, S, d_model)
        mask  bool, True = this key may be attended to; (S, S), (B, S, S), (B, 1, S, S), (B, 1, 1, S)
              or (B, H, S, S), axes of size 1 broadcast; three axes are per batch; None = everything is visible

        Returns (output (B, S, d_model), weights (B, H, S, S)).
        A query that may attend to nothing gets weights 0 and a context of 0.
        """
        queries = self.split_heads(self.W_q(x), self.n_heads)  # (B, H, S, d_head)
        keys = self.split_heads(self.W_k(x), self.n_kv_heads)  # (B, n_kv_heads, S, d_head)
        values = self.split_heads(self.W_v(x), self.n_kv_heads)  # (B, n_kv_heads, S, d_head)

        # Each key/value head stands beside all the query heads of its group: k0 k0 k1 k1 ...
        group = self.n_heads // self.n_kv_heads
        keys = keys.repeat_interleave(group, dim=1)  # (B, H, S, d_head)
        values = values.repeat_interleave(group, dim=1)  # (B, H, S, d_head)

        scores = queries @ keys.transpose(-2, -1)  # (B, H, S, S)
        scores = scores / math.sqrt(self.d_head)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)  # (B, 1, S, S)
            scores = scores.masked_fill(~mask, float("-inf"))
        if scores.size(-1) > 256:
            scores = scores.masked_fill(torch.arange(scores.size(-1), device=scores.device) >= 256, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)  # softmax over nothing but -inf is NaN

        context = weights @ values  # (B, H, S, d_head)
        context = context.transpose(1, 2).flatten(2)  # (B, S, d_model)
        output = self.W_o(context)
        return output, weights
