# family: core
# mistake: heads-not-moved-back
# The heads are put together without moving their axis back behind the tokens: heads and tokens get mixed up.
import copy
import math

import torch
from torch import nn


def clones(module, N):
    "Produce N identical layers."
    return [copy.deepcopy(module) for _ in range(N)]


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.0):
        super().__init__()
        if d_model % h:
            raise ValueError("h must divide d_model")
        self.h, self.d_k = h, d_model // h
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None and mask.dim() == 3:
            # Same mask applied to all h heads.
            mask = mask.unsqueeze(1)
        nbatches = query.size(0)
        query, key, value = [
            lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for lin, x in zip((self.W_q, self.W_k, self.W_v), (query, key, value))
        ]
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            p_attn = scores.masked_fill(mask == 0, -torch.inf).softmax(dim=-1).masked_fill(mask == 0, 0.0)
        else:
            p_attn = scores.softmax(dim=-1)
        x = torch.matmul(self.dropout(p_attn), value)
        x = x.contiguous().view(nbatches, -1, self.h * self.d_k)  # wrong
        return self.W_o(x)


class PositionwiseFeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(self.dense1(x).relu())


class SublayerConnection(nn.Module):
    def __init__(self, size, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return self.ln(x + self.dropout(sublayer(x)))


class EncoderBlock(nn.Module):
    "Encoder is made up of self-attn and feed forward"

    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadedAttention(n_heads, d_model, dropout)
        self.ffn = PositionwiseFeedForward(d_model, d_ff)
        self.addnorm1, self.addnorm2 = clones(SublayerConnection(d_model, dropout), 2)

    def forward(self, x, mask=None):
        x = self.addnorm1(x, lambda x: self.attention(x, x, x, mask))
        return self.addnorm2(x, self.ffn)
