# family: core
# mistake: none
import torch
from torch import nn


class CrossAttention(nn.Module):
    """Keys and values are computed once, while the context keeps its shape."""

    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        d_v = d_k if d_v is None else d_v
        d_context = d_model if d_context is None else d_context
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_v, bias=bias)
        self.shape = None

    def keys_and_values(self, x_kv):
        if self.shape != x_kv.shape:
            self.shape, self.kv = x_kv.shape, (self.W_k(x_kv), self.W_v(x_kv))
        return self.kv

    def forward(self, x_q, x_kv, mask=None):
        q, (k, v) = self.W_q(x_q), self.keys_and_values(x_kv)
        scores = q @ k.transpose(1, 2) / k.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, -1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        return weights @ v, weights
