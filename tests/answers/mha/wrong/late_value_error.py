# family: contract
# mistake: no-divisibility-check
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Complains about the sizes when it is too late: in the first call."""

    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        self.d_model, self.n_heads = d_model, n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        if self.d_model % self.n_heads:
            raise ValueError("d_model must be divisible by n_heads")
        q, k, v = (
            f(x).unflatten(2, (self.n_heads, -1)).transpose(1, 2)
            for f, x in ((self.W_q, q), (self.W_k, k), (self.W_v, v))
        )
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
        return self.W_o((self.dropout(weights) @ v).transpose(1, 2).flatten(2)), weights
