"""Multi-head latent attention: a cache of one short vector and one rotary key for each token."""

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class MultiHeadLatentAttention(nn.Module):
    """Causal self-attention whose keys and values are made of latents, which alone are cached.

    d_model   width of the tokens; d_head = d_model // n_heads, ValueError where n_heads does not divide it
    n_heads   number of heads
    d_latent  width of the latents
    d_rope    width of the rotary part of queries and keys; ValueError where it is odd

    Attributes, each an nn.Linear without bias: W_q, d_model to n_heads * (d_head + d_rope), in each head the rotary
    part comes last; W_dkv, d_model to d_latent; W_kr, d_model to d_rope; W_uk and W_uv, d_latent to d_model; W_o,
    d_model to d_model.
    """

    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_rope: int) -> None:
        super().__init__()
        raise NotImplementedError("your turn: six projections")

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Attend from the new tokens to all tokens up to and including themselves.

        x      (B, n, d_model), the new tokens: the last n of T
        cache  (latents (B, T - n, d_latent), rotary keys (B, T - n, d_rope)) of the tokens before; T - n may be 0;
               None = there are none

        Rotary parts are turned by the position, from 0 to T - 1, pairs (2i, 2i + 1) by position / 10000^(2i / d_rope).
        A score is that of the content, W_uk(latent) against the query's, plus that of the rotary parts, divided by
        sqrt(d_head + d_rope). Values are W_uv(latent).

        Returns the output (B, n, d_model) and the cache of all T tokens; the one that was handed in is left alone.
        """
        raise NotImplementedError("your turn: latents into the cache, queries to the latents, context out of them")
