# family: core
# mistake: none
import math

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, n_heads, dropout):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.n_heads, self.d_head).transpose(1, 2)

    def kv(self, x):
        return self.split(self.W_k(x)), self.split(self.W_v(x))

    def forward(self, x, k, v, mask=None):
        q = self.split(self.W_q(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        out = self.dropout(weights) @ v
        return self.W_o(out.transpose(1, 2).reshape(x.shape))


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(F.relu(self.dense1(x)))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attn = Attention(d_model, n_heads, dropout)
        self.cross_attn = Attention(d_model, n_heads, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.last = None

    def forward(self, x, memory, cache=None, memory_mask=None):
        k, v = self.self_attn.kv(x)
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        n, T = x.size(1), k.size(2)
        causal = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        x = self.norm1(x + self.dropout(self.self_attn(x, k, v, causal)))
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask.unsqueeze(1)
        if memory_mask is not None:
            self.last = (x.shape, memory.shape, memory_mask)
        elif self.last is not None and self.last[:2] == (x.shape, memory.shape):
            memory_mask = self.last[2]
        mk, mv = self.cross_attn.kv(memory)
        x = self.norm2(x + self.dropout(self.cross_attn(x, mk, mv, memory_mask)))
        x = self.norm3(x + self.dropout(self.ffn(x)))
        return x, (k, v)
