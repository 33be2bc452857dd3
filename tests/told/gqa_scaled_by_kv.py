# kata: gqa
# names: assert-for-arguments, scale-kv-width
import math
import torch
import torch.nn as nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        assert d_model % n_heads == 0 and n_heads % n_kv_heads == 0  # wrong
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        B, T, C = x.size()
        q = self.W_q(x).view(B, T, self.n_heads, self.d_head).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.n_kv_heads, self.d_head).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.n_kv_heads, self.d_head).transpose(1, 2)
        k = k.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)
        v = v.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(self.n_kv_heads * self.d_head))  # wrong
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            att = att.masked_fill(mask == 0, float("-inf"))
        att = torch.softmax(att, dim=-1)
        if mask is not None:
            att = att.masked_fill(mask == 0, 0.0)
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.W_o(y), att
