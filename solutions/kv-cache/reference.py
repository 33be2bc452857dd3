"""Causal self-attention with a cache of keys and values.

    output_t = concat_h(softmax(q_t^h K_{<=t}^h^T / sqrt(d_head)) V_{<=t}^h) W_o

K and V of a token never change once it is there, so they are kept, and a step projects its new tokens only.
Vaswani et al. 2017, "Attention Is All You Need" (arXiv:1706.03762), section 3.2; the cache as in
Shazeer 2019, "Fast Transformer Decoding" (arXiv:1911.02150), section 2.4.
"""

import math

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
        if d_model % n_heads != 0:
            raise ValueError(f"d_model {d_model} is not divisible by n_heads {n_heads}")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def split_heads(self, x: Tensor) -> Tensor:
        """(B, n, d_model) to (B, H, n, d_head)."""
        batch, length, _ = x.shape
        x = x.view(batch, length, self.n_heads, self.d_head)  # (B, n, H, d_head)
        return x.transpose(1, 2)  # (B, H, n, d_head)

    def forward(
        self, x: Tensor, cache: Cache | None = None, padding_mask: Tensor | None = None
    ) -> tuple[Tensor, Cache]:
        """Attend from the new tokens to all tokens up to and including themselves.

        x             (B, n, d_model), the new tokens: the last n of T
        cache         (keys, values) of the T - n tokens before, each (B, H, T - n, d_head), T - n may be 0;
                      None = there are none
        padding_mask  bool, (B, T), old and new tokens, True = a real token that may be attended to

        Returns the output (B, n, d_model) and the cache of all T tokens, (keys, values), each (B, H, T, d_head).
        """
        queries = self.split_heads(self.W_q(x))  # (B, H, n, d_head)
        keys = self.split_heads(self.W_k(x))  # (B, H, n, d_head)
        values = self.split_heads(self.W_v(x))  # (B, H, n, d_head)
        if cache is not None:
            past_keys, past_values = cache
            keys = torch.cat([past_keys, keys], dim=2)  # (B, H, T, d_head)
            values = torch.cat([past_values, values], dim=2)  # (B, H, T, d_head)

        # The queries are the last n of T positions: query i sees keys 0 to T - n + i.
        new, total = queries.size(2), keys.size(2)
        visible = torch.ones(new, total, dtype=torch.bool, device=x.device).tril(diagonal=total - new)  # (n, T)
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]  # (B, 1, n, T)

        scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, H, n, T)
        scores = scores.masked_fill(~visible, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        weights = weights.masked_fill(~visible, 0.0)  # a row of nothing but -inf came out as NaN

        context = weights @ values  # (B, H, n, d_head)
        context = context.transpose(1, 2).flatten(2)  # (B, n, d_model)
        return self.W_o(context), (keys, values)
