# family: grad
# mistake: no-grad-with-cache
"""Detaches the new keys and values together with the old ones."""

import math
import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class CachedSelfAttention(nn.Module):
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
        batch, length, _ = x.shape
        x = x.view(batch, length, self.n_heads, self.d_head)
        return x.transpose(1, 2)

    def forward(
        self, x: Tensor, cache: Cache | None = None, padding_mask: Tensor | None = None
    ) -> tuple[Tensor, Cache]:
        queries = self.split_heads(self.W_q(x))
        keys = self.split_heads(self.W_k(x))
        values = self.split_heads(self.W_v(x))
        if cache is not None:
            past_keys, past_values = cache
            if past_keys.size(2):
                keys, values = (keys.detach(), values.detach())
            keys = torch.cat([past_keys, keys], dim=2)
            values = torch.cat([past_values, values], dim=2)
        new, total = (queries.size(2), keys.size(2))
        visible = torch.ones(new, total, dtype=torch.bool, device=x.device).tril(diagonal=total - new)
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.d_head)
        scores = scores.masked_fill(~visible, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        weights = weights.masked_fill(~visible, 0.0)
        context = weights @ values
        context = context.transpose(1, 2).flatten(2)
        return (self.W_o(context), (keys, values))
