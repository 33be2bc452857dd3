import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def fold(x, n_heads):
    b, s, d = x.shape
    return x.view(b, s, n_heads, d // n_heads).permute(0, 2, 1, 3).reshape(b * n_heads, s, d // n_heads)


class MultiHeadAttention(nn.Module):
    """Heads folded into the batch, as one well-known textbook does it."""

    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model} features cannot be shared by {n_heads} heads")
        self.num_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.drop = nn.Dropout(dropout)

    def keep_mask(self, mask, batch, n, m):
        if mask is None:
            return None
        if mask.dim() == 4:
            return mask.expand(batch, self.num_heads, n, m).reshape(-1, n, m)
        mask = mask.expand(batch, n, m)
        return torch.repeat_interleave(mask, self.num_heads, dim=0)

    def forward(self, q, k, v, mask=None):
        batch, n, d_model = q.shape
        m = k.shape[1]
        q, k, v = (
            fold(self.W_q(q), self.num_heads),
            fold(self.W_k(k), self.num_heads),
            fold(self.W_v(v), self.num_heads),
        )
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(d_model // self.num_heads)
        keep = self.keep_mask(mask, batch, n, m)
        if keep is not None:
            scores = scores.masked_fill(~keep, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        if keep is not None:
            weights = torch.nan_to_num(weights, nan=0.0)
        context = torch.bmm(self.drop(weights), v).view(batch, self.num_heads, n, -1)
        context = context.transpose(1, 2).contiguous().view(batch, n, d_model)
        return self.W_o(context), weights.view(batch, self.num_heads, n, m)
