# kata: kv-cache
# names: causal-top-left-of-chunks, nan-rows
import math
import torch
from torch import nn


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads = n_heads
        self.head_dim = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, cache=None, padding_mask=None):
        B, T, C = x.shape
        q = self.W_q(x).view(B, T, self.n_heads, self.head_dim).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.n_heads, self.head_dim).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.n_heads, self.head_dim).transpose(1, 2)
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if T > 1:
            mask = torch.tril(torch.ones(T, k.size(2), device=x.device)).bool()  # wrong
            scores = scores.masked_fill(~mask, float("-inf"))
        if padding_mask is not None:
            scores = scores.masked_fill(~padding_mask[:, None, None, :], float("-inf"))
        attn = torch.softmax(scores, dim=-1)  # wrong
        out = (attn @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.W_o(out), (k, v)
