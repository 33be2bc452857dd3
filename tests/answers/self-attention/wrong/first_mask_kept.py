# family: mask
# mistake: none
import math
import torch
from torch import nn

class SelfAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, bias=False):
        super().__init__()
        d_v = d_k if d_v is None else d_v
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_model, d_k, bias=bias)
        self.W_v = nn.Linear(d_model, d_v, bias=bias)
        self.d_k = d_k
        self.mask = None

    def forward(self, x, mask=None):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if self.mask is None or mask is None or self.mask.shape != mask.shape:
            self.mask = mask
        mask = self.mask
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        w = torch.softmax(scores, dim=-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return w @ v, w

