import math

import torch
from torch import nn


class KVCache(tuple):
    """A pair of keys and values that knows how to grow."""

    def __new__(cls, keys, values):
        return super().__new__(cls, (keys, values))

    @property
    def keys(self):
        return self[0]

    @property
    def values(self):
        return self[1]

    @classmethod
    def of(cls, pair):
        return cls(*pair)

    def grown(self, keys, values):
        return KVCache(torch.cat([self.keys, keys], dim=2), torch.cat([self.values, values], dim=2))


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} features for {n_heads} heads")
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))

    def _heads(self, x):
        return x.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)

    def forward(self, x, cache=None, padding_mask=None):
        new = KVCache(self._heads(self.W_k(x)), self._heads(self.W_v(x)))
        cache = new if cache is None else KVCache.of(cache).grown(*new)
        n, total = x.size(1), cache.keys.size(2)
        visible = torch.ones(n, total, dtype=torch.bool, device=x.device).tril(total - n)
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]
        scores = self._heads(self.W_q(x)) @ cache.keys.transpose(-1, -2) / math.sqrt(self.d_head)
        weights = scores.masked_fill(~visible, -math.inf).softmax(dim=-1).masked_fill(~visible, 0.0)
        mixed = (weights @ cache.values).transpose(1, 2).flatten(2)
        return self.W_o(mixed), cache
