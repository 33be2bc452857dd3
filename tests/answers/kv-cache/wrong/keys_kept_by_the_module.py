# family: core
# mistake: past-read-from-the-module
import math

import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    """Goes on from what it kept of its last call, whatever it is handed."""

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
            k = torch.cat([self.past_k, k], 2)
            v = torch.cat([self.past_v, v], 2)
        self.past_k, self.past_v = k.detach(), v.detach()
        T = k.shape[2]
        see = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        if padding_mask is not None:
            see = see & padding_mask[:, None, None, :]
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        s = s.masked_fill(~see, -math.inf)
        w = torch.softmax(s, -1).masked_fill(~see, 0.0)
        out = self.W_o((w @ v).transpose(1, 2).reshape(B, n, -1))
        return out, (k, v)
