# family: core
# mistake: none
# in training with dropout a dead query... weights of dead rows are 1/m where p > 0
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
            keep = mask.expand_as(s)
            s = s.masked_fill(~keep, -math.inf).masked_fill(~keep.any(-1, keepdim=True), 0)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~keep, 0) if not (self.training and self.dropout.p > 0) else w.masked_fill(~keep & keep.any(-1, keepdim=True), 0)
        return self.dropout(w) @ values, w
