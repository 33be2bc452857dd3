# family: contract
# mistake: none
# Impossible head counts are an assert, not a ValueError.
import torch
from torch import nn
import torch.nn.functional as F


def attention(q, k, v, mask, dropout):
    scores = torch.matmul(q, k.transpose(-2, -1)) / q.size(-1) ** 0.5
    if mask is None:
        p = F.softmax(scores, dim=-1)
    else:
        p = F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1).masked_fill(~mask, 0.0)
    return torch.matmul(dropout(p), v)


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout):
        super().__init__()
        assert d_model % h == 0  # wrong
        self.d_k = d_model // h
        self.h = h
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, source, past=None, mask=None):
        nb = query.size(0)
        q = self.W_q(query).view(nb, -1, self.h, self.d_k).transpose(1, 2)
        k = self.W_k(source).view(nb, -1, self.h, self.d_k).transpose(1, 2)
        v = self.W_v(source).view(nb, -1, self.h, self.d_k).transpose(1, 2)
        if past is not None:
            k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        if mask == "causal":
            n, T = q.size(2), k.size(2)
            mask = torch.tril(torch.ones(n, T, dtype=torch.bool, device=q.device), diagonal=T - n)
        x = attention(q, k, v, mask, self.dropout)
        x = x.transpose(1, 2).contiguous().view(nb, -1, self.h * self.d_k)
        return self.W_o(x), (k, v)


class PositionwiseFeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(self.dense1(x).relu())


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attn = MultiHeadedAttention(n_heads, d_model, dropout)
        self.cross_attn = MultiHeadedAttention(n_heads, d_model, dropout)
        self.ffn = PositionwiseFeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, cache=None, memory_mask=None):
        if memory_mask is not None and memory_mask.dim() == 3:
            memory_mask = memory_mask.unsqueeze(1)
        a, cache = self.self_attn(x, x, past=cache, mask="causal")
        y = self.norm1(x + self.dropout(a))
        c, _ = self.cross_attn(y, memory, mask=memory_mask)
        z = self.norm2(y + self.dropout(c))
        return self.norm3(z + self.dropout(self.ffn(z))), cache
