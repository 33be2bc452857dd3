# family: mask
# mistake: none
import math

import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    """Keeps the triangle of each size, and the padding of a call stays in it for the calls that follow."""

    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.h, self.d = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.triangles = {}

    def split(self, x):
        return x.unflatten(-1, (self.h, self.d)).transpose(1, 2)

    def forward(self, x, cache=None, padding_mask=None):
        B, n, _ = x.shape
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        if cache is not None:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        T = k.size(2)
        size = B, n, T, x.device
        if size not in self.triangles:
            self.triangles[size] = torch.ones(B, 1, n, T, dtype=torch.bool, device=x.device).tril(T - n)
        see = self.triangles[size]
        if padding_mask is not None:
            see &= padding_mask[:, None, None, :]
        scores = (q @ k.transpose(-2, -1) / math.sqrt(self.d)).masked_fill(~see, -torch.inf)
        weights = scores.softmax(-1).masked_fill(~see, 0.0)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), (k, v)
