"""An answer to `mha` as a learner might write it; `make demo` takes the marked lines out first."""

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads has to divide d_model")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def heads(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, H, S, d_head)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.heads(self.W_q(q)), self.heads(self.W_k(k)), self.heads(self.W_v(v))
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5  # (B, H, n, m)
        if mask is not None:
            if mask.dim() == 3:  # demo
                mask = mask.unsqueeze(1)  # demo
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = self.dropout(weights) @ v  # (B, H, n, d_head)
        return self.W_o(context.transpose(1, 2).flatten(2)), weights
