# kata: decoder-block
# names: fill-overflows-in-half
import math
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, h, dropout):
        super().__init__()
        if d_model % h:
            raise ValueError("d_model must be divisible by h")
        self.h, self.d_k = h, d_model // h
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.view(x.size(0), -1, self.h, self.d_k).transpose(1, 2)

    def forward(self, query, key, value, mask):
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)  # wrong
        p_attn = self.dropout(scores.softmax(dim=-1))
        x = torch.matmul(p_attn, value).transpose(1, 2).contiguous().view(query.size(0), -1, self.h * self.d_k)
        return self.W_o(x)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(self.dense1(x).relu())


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attn = Attention(d_model, n_heads, dropout)
        self.cross_attn = Attention(d_model, n_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, memory, cache=None, memory_mask=None):
        a, c = self.self_attn, self.cross_attn
        q, k, v = a.split(a.W_q(x)), a.split(a.W_k(x)), a.split(a.W_v(x))
        if cache is not None:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        n, t = q.size(2), k.size(2)
        causal = torch.ones(n, t, dtype=torch.bool, device=x.device).tril(t - n)
        x = self.norm1(x + self.drop(a(q, k, v, causal)))
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask.unsqueeze(1)
        y = c(c.split(c.W_q(x)), c.split(c.W_k(memory)), c.split(c.W_v(memory)), memory_mask)
        x = self.norm2(x + self.drop(y))
        return self.norm3(x + self.drop(self.ffn(x))), (k, v)
