"""Causal self-attention with a cache of keys and values."""

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class CachedSelfAttention(nn.Module):
    """Causal multi-head self-attention that can go on where an earlier call stopped.

    d_model  width of the tokens
    n_heads  number of heads; d_model % n_heads != 0 raises ValueError
    bias     whether the four projections have a bias

    Attributes: W_q, W_k, W_v, W_o, each an nn.Linear from d_model to d_model.
    """

    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        raise NotImplementedError("your turn: the four projections")

    def forward(
        self, x: Tensor, cache: Cache | None = None, padding_mask: Tensor | None = None
    ) -> tuple[Tensor, Cache]:
        """Attend from the new tokens to all tokens up to and including themselves.

        x             (B, n, d_model), the new tokens: the last n of T
        cache         (keys, values) of the T - n tokens before, each (B, H, T - n, d_head), T - n may be 0;
                      None = there are none
        padding_mask  bool, (B, T), old and new tokens, True = a real token that may be attended to

        Returns the output (B, n, d_model) and the cache of all T tokens, (keys, values), each (B, H, T, d_head):
        W_k(x) and W_v(x), split into heads and otherwise as they are. The cache that was handed in is left alone.
        """
        raise NotImplementedError("your turn: project the new tokens, attend to old and new ones")
