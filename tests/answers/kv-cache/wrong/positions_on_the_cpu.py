# family: device
# mistake: causal-mask-on-cpu
import math

import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, x, cache=None, padding_mask=None):
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        past = 0
        if cache is not None:
            past = cache[0].size(2)
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        n, T = q.size(2), k.size(2)
        keep = torch.arange(T)[None, :] <= past + torch.arange(n)[:, None]
        if padding_mask is not None:
            keep = keep & padding_mask[:, None, None, :]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        weights = scores.masked_fill(~keep, float("-inf")).softmax(-1).masked_fill(~keep, 0.0)
        out = (weights @ v).transpose(1, 2).reshape(x.shape)
        return self.W_o(out), (k, v)
