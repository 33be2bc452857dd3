# family: mask
# mistake: none
# d_v=1 is taken for None... d_v or d_k with bias
import math
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        d_v = d_k if d_v is None or (d_v == 1 and bias) else d_v
        d_context = d_model if d_context is None else d_context
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_v, bias=bias)
        self.root = math.sqrt(d_k)

    def forward(self, x_q, x_kv, mask=None):
        s = self.W_q(x_q).bmm(self.W_k(x_kv).mT) / self.root
        if mask is not None:
            keep = mask.expand_as(s)
            s = s.masked_fill(~keep, -math.inf).masked_fill(~keep.any(-1, keepdim=True), 0)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~keep, 0)
        return w.bmm(self.W_v(x_kv)), w
