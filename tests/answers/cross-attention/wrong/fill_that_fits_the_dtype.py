# family: mask
# mistake: fill-minus-a-billion
import math

import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        self.d_k = d_k
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context or d_model, d_k, bias=bias)
        self.W_v = nn.Linear(d_context or d_model, d_v or d_k, bias=bias)

    def forward(self, x_q, x_kv, mask=None):
        scores = self.W_q(x_q) @ self.W_k(x_kv).mT / math.sqrt(self.d_k)
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            lowest = -6e4 if scores.dtype == torch.float16 else -1e9
            weights = scores.masked_fill(~mask, lowest).softmax(dim=-1).masked_fill(~mask, 0.0)
        return weights @ self.W_v(x_kv), weights
