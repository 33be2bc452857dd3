# family: core
# mistake: none
# The dropout is not handed on to the cross-attention, so its weights are never dropped.
import math

import torch
import torch.nn as nn
from torch.nn import functional as F


class Attention(nn.Module):

    def __init__(self, n_embd, n_head, dropout=0.0):
        super().__init__()
        self.W_q = nn.Linear(n_embd, n_embd)
        self.W_k = nn.Linear(n_embd, n_embd)
        self.W_v = nn.Linear(n_embd, n_embd)
        self.W_o = nn.Linear(n_embd, n_embd)
        self.attn_dropout = nn.Dropout(dropout)
        self.n_head = n_head

    def heads(self, x):
        B, T, C = x.size()
        return x.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) # (B, nh, T, hs)

    def keys_values(self, x):
        return self.heads(self.W_k(x)), self.heads(self.W_v(x))

    def forward(self, x, k, v, mask=None):
        B, T, C = x.size()
        q = self.heads(self.W_q(x))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            att = att.masked_fill(mask == False, float('-inf'))
            att = F.softmax(att, dim=-1).masked_fill(mask == False, 0.0)
        else:
            att = F.softmax(att, dim=-1)
        y = self.attn_dropout(att) @ v
        return self.W_o(y.transpose(1, 2).contiguous().view(B, T, C))


class MLP(nn.Module):

    def __init__(self, n_embd, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(n_embd, d_ff)
        self.dense2 = nn.Linear(d_ff, n_embd)

    def forward(self, x):
        return self.dense2(F.relu(self.dense1(x)))


class DecoderBlock(nn.Module):

    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not fit into {d_model}")
        self.self_attn = Attention(d_model, n_heads, dropout)
        self.cross_attn = Attention(d_model, n_heads)  # wrong
        self.ffn = MLP(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.resid_dropout = nn.Dropout(dropout)

    def forward(self, x, memory, cache=None, memory_mask=None):
        k, v = self.self_attn.keys_values(x)
        if cache is not None:
            k = torch.cat((cache[0], k), dim=2)
            v = torch.cat((cache[1], v), dim=2)
        n, T = x.size(1), k.size(2)
        causal = torch.tril(torch.ones(n, T, dtype=torch.bool, device=x.device), diagonal=T - n)
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask[:, None] # per sequence
        x = self.norm1(x + self.resid_dropout(self.self_attn(x, k, v, causal)))
        mk, mv = self.cross_attn.keys_values(memory)
        x = self.norm2(x + self.resid_dropout(self.cross_attn(x, mk, mv, memory_mask)))
        x = self.norm3(x + self.resid_dropout(self.ffn(x)))
        return x, (k, v)
