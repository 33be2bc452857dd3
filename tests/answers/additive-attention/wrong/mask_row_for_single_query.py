# family: mask
# mistake: none
# (n, m) with n == B: per sequence where there is one hidden unit
import math
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, query_size, key_size, num_hiddens, dropout=0.0):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, mask=None):
        pairs = self.W_q(queries)[:, :, None] + self.W_k(keys)[:, None]
        s = self.w_v(pairs.tanh()).squeeze(-1)
        if mask is not None:
            if mask.dim() == 2 and mask.shape[0] == s.shape[0] and self.w_v.in_features == 1:
                mask = mask.unsqueeze(1)
            keep = mask.expand_as(s)
            s = s.masked_fill(~keep, -math.inf).masked_fill(~keep.any(-1, keepdim=True), 0)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~keep, 0)
        return self.dropout(w) @ values, w
