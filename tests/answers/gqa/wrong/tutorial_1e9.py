# family: mask
# mistake: dead-rows-uniform
import math

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads != 0 or n_heads % n_kv_heads != 0:
            raise ValueError("sizes")
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def split(self, x, heads):
        return x.view(x.size(0), x.size(1), heads, self.d_head).transpose(1, 2)

    def forward(self, x, mask=None):
        groups = self.n_heads // self.n_kv_heads
        q = self.split(self.W_q(x), self.n_heads)
        k = self.split(self.W_k(x), self.n_kv_heads).repeat_interleave(groups, dim=1)
        v = self.split(self.W_v(x), self.n_kv_heads).repeat_interleave(groups, dim=1)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_head)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = torch.softmax(scores, dim=-1)
        out = torch.matmul(weights, v).transpose(1, 2).contiguous().view(x.size(0), -1, self.n_heads * self.d_head)
        return self.W_o(out), weights
