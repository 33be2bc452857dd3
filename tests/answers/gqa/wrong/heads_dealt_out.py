# family: core
# mistake: heads-tiled
import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads != 0 or n_heads % n_kv_heads != 0:
            raise ValueError("sizes")
        self.h, self.kv, self.d = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, self.kv * self.d, bias=bias)
        self.W_v = nn.Linear(d_model, self.kv * self.d, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        b, s, _ = x.shape
        # (b, r, kv, s, d): broadcast the keys over the leading axis
        q = self.W_q(x).view(b, s, self.h // self.kv, self.kv, self.d).permute(0, 2, 3, 1, 4)
        k = self.W_k(x).view(b, 1, s, self.kv, self.d).transpose(2, 3)
        v = self.W_v(x).view(b, 1, s, self.kv, self.d).transpose(2, 3)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(self.d)).reshape(b, self.h, s, s)
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            scores = scores.masked_fill(~mask, float("-inf"))
        w = torch.softmax(scores, -1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        out = w.view(b, self.h // self.kv, self.kv, s, s) @ v
        return self.W_o(out.reshape(b, self.h, s, self.d).transpose(1, 2).flatten(2)), w
