# family: contract
# mistake: groups-not-checked
import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        if d_model % n_kv_heads != 0:
            raise ValueError("d_model must be divisible by n_kv_heads")
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def split(self, x, heads):
        return x.view(x.size(0), x.size(1), heads, self.d_head).transpose(1, 2)

    def forward(self, x, mask=None):
        q, k, v = self.split(self.W_q(x), self.n_heads), self.W_k(x), self.W_v(x)
        r = self.n_heads // self.n_kv_heads
        k = self.split(k, self.n_kv_heads).repeat_interleave(r, 1)
        v = self.split(v, self.n_kv_heads).repeat_interleave(r, 1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            scores = scores.masked_fill(~mask, float("-inf"))
        w = torch.softmax(scores, -1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_o((w @ v).transpose(1, 2).flatten(2)), w
