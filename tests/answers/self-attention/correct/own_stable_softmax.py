import math

import torch
from torch import nn


def stable_softmax(scores, keep):
    if keep is None:
        keep = torch.ones_like(scores, dtype=torch.bool)
    keep = keep.expand_as(scores)
    hidden = scores.masked_fill(~keep, -math.inf)
    top = hidden.amax(dim=-1, keepdim=True)
    top = top.masked_fill(top == -math.inf, 0.0).detach()
    e = torch.exp(hidden - top)
    total = e.sum(dim=-1, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, bias=False):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_model, d_k, bias=bias)
        self.W_v = nn.Linear(d_model, d_k if d_v is None else d_v, bias=bias)

    def forward(self, x, mask=None):
        q = self.W_q(x) / math.sqrt(self.W_q.out_features)
        weights = stable_softmax(torch.bmm(q, self.W_k(x).mT), mask)
        return torch.bmm(weights, self.W_v(x)), weights
