# family: device
# mistake: tensor-left-on-cpu
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
        self.index = torch.arange(n_kv_heads).repeat_interleave(n_heads // n_kv_heads)

    def forward(self, x, mask=None):
        b, s, d = x.shape
        q = self.W_q(x).view(b, s, self.n_heads, self.d_head).transpose(1, 2)
        k = self.W_k(x).view(b, s, self.n_kv_heads, self.d_head).transpose(1, 2)
        v = self.W_v(x).view(b, s, self.n_kv_heads, self.d_head).transpose(1, 2)
        k, v = torch.index_select(k, 1, self.index), torch.index_select(v, 1, self.index)
        scores = q @ k.mT / math.sqrt(self.d_head)
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            scores = scores.masked_fill(~mask, float("-inf"))
        w = torch.softmax(scores, -1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        return self.W_o((w @ v).transpose(1, 2).reshape(b, s, d)), w
