# kata: kv-cache
# names: causal-top-left
import math
import torch
from torch import nn
from torch.nn import functional as F


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        self.n_head = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, cache=None, padding_mask=None):
        B, T, C = x.size()
        q = self.W_q(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        mask = torch.tril(torch.ones(T, k.size(2), dtype=torch.bool, device=x.device))  # wrong
        if padding_mask is not None:
            mask = mask & padding_mask[:, None, None, :]
        att = att.masked_fill(~mask, float("-inf"))
        att = F.softmax(att, dim=-1).nan_to_num(0.0)
        y = att @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.W_o(y), (k, v)
