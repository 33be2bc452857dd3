import math

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class CrossAttention(nn.Module):
    """Scores are computed anew in the backward pass instead of being kept."""

    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_model if d_context is None else d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_model if d_context is None else d_context, d_k if d_v is None else d_v, bias=bias)

    @staticmethod
    def _attend(q, k, v, mask):
        scores = torch.matmul(q, k.mT) / math.sqrt(q.size(-1))
        if mask is None:
            weights = scores.softmax(-1)
        else:
            weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)
        return torch.matmul(weights, v), weights

    def forward(self, x_q, x_kv, mask=None):
        q, k, v = self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv)
        return checkpoint(self._attend, q, k, v, mask, use_reentrant=False)
