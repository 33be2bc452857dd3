import math

import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    """Results are written into tensors allocated beforehand."""

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True):
        super().__init__()
        if n_heads <= 0 or d_model % n_heads != 0:
            raise ValueError("bad number of heads")
        self.heads = n_heads
        self.width = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = dropout

    def forward(self, q, k, v, mask=None):
        q, k, v = F.linear(q, self.W_q.weight, self.W_q.bias), self.W_k(k), self.W_v(v)
        B, n, m = q.size(0), q.size(1), k.size(1)
        weights = q.new_zeros(B, self.heads, n, m)
        context = torch.empty_like(q)
        if mask is not None:
            while mask.dim() < 3:
                mask = mask.unsqueeze(0)
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            mask = mask.expand(B, self.heads, n, m)
        for h in range(self.heads):
            part = slice(h * self.width, (h + 1) * self.width)
            s = torch.matmul(q[..., part], k[..., part].transpose(1, 2)) / math.sqrt(self.width)
            if mask is not None:
                s[~mask[:, h]] = torch.finfo(s.dtype).min
            p = torch.softmax(s, -1)
            if mask is not None:
                p = p.clone()
                p[~mask[:, h]] = 0
            weights[:, h] = p
            context[..., part] = F.dropout(p, self.dropout, training=self.training) @ v[..., part]
        return self.W_o(context), weights
