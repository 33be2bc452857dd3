# family: mask
# mistake: none
import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    """Keeps the mask of the last call, and goes on using it where a call of the same size has none."""

    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError("the heads cannot be shared out")
        self.h, self.g, self.d = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=bias)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.mask = None

    def split(self, x, heads):
        return x.unflatten(-1, (heads, self.d)).transpose(1, 2).repeat_interleave(self.h // heads, dim=1)

    def forward(self, x, mask=None):
        B, S, _ = x.shape
        if mask is not None:
            self.mask = mask
        elif self.mask is not None and self.mask.size(-1) == S and self.mask.size(0) in (1, B):
            mask = self.mask
        q, k, v = self.split(self.W_q(x), self.h), self.split(self.W_k(x), self.g), self.split(self.W_v(x), self.g)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is None:
            weights = scores.softmax(-1)
        else:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights
