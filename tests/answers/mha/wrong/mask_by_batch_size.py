# family: mask
# mistake: none
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def heads(self, x):
        return x.view(x.size(0), -1, self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.heads(self.W_q(q)), self.heads(self.W_k(k)), self.heads(self.W_v(v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            # three axes: per head if the first one has the right size, else per batch
            if mask.dim() == 3 and mask.size(0) != self.n_heads:
                mask = mask.unsqueeze(1)
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        x = (self.dropout(weights) @ v).transpose(1, 2).flatten(2)
        return self.W_o(x), weights
