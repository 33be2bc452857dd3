# family: contract
# mistake: mask-negated-in-place
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, bias=False):
        super().__init__()
        self.d_k = d_k
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_model, d_k, bias=bias)
        self.W_v = nn.Linear(d_model, d_k if d_v is None else d_v, bias=bias)

    def forward(self, x, mask=None):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = q @ k.transpose(1, 2) / self.d_k**0.5
        if mask is None:
            weights = scores.softmax(-1)
        else:
            mask &= mask.any(-1, keepdim=True)
            mask ^= True
            scores = scores.masked_fill(mask, float("-inf"))
            weights = scores.softmax(-1).masked_fill(mask, 0.0)
        return weights @ v, weights
