# family: core
# mistake: cache-grown-in-place
import math

import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    """Appends the new tokens to the tensors of the cache that was handed in."""

    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def split(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.h, self.d).transpose(1, 2)

    def forward(self, x, cache=None, padding_mask=None):
        B, n, _ = x.shape
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        if cache is not None:
            for c, new in zip(cache, (k, v)):
                with torch.no_grad():
                    c.set_(torch.cat([c, new.detach()], 2))
            k, v = cache
        T = k.shape[2]
        see = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        if padding_mask is not None:
            see = see & padding_mask[:, None, None, :]
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        s = s.masked_fill(~see, -math.inf)
        w = torch.softmax(s, -1).masked_fill(~see, 0.0)
        out = self.W_o((w @ v).transpose(1, 2).reshape(B, n, -1))
        return out, (k, v)
