# kata: encoder-block
# names: pre-norm
import math
import torch
from torch import nn


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model, h, dropout):
        super().__init__()
        if d_model % h:
            raise ValueError("heads")
        self.h, self.d_k = h, d_model // h
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        n = q.size(0)
        q, k, v = [l(x).view(n, -1, self.h, self.d_k).transpose(1, 2)
                   for l, x in ((self.W_q, q), (self.W_k, k), (self.W_v, v))]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            scores = scores.masked_fill(~mask, float("-inf"))
        p = scores.softmax(-1).nan_to_num(0.0)
        return self.W_o((self.dropout(p) @ v).transpose(1, 2).reshape(n, -1, self.h * self.d_k))


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(torch.relu(self.dense1(x)))


class SublayerConnection(nn.Module):
    def __init__(self, size, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return x + self.dropout(sublayer(self.ln(x)))  # wrong, named


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadedAttention(d_model, n_heads, dropout)
        self.ffn = PositionWiseFFN(d_model, d_ff)
        self.addnorm1 = SublayerConnection(d_model, dropout)
        self.addnorm2 = SublayerConnection(d_model, dropout)

    def forward(self, x, mask=None):
        x = self.addnorm1(x, lambda x: self.attention(x, x, x, mask))
        return self.addnorm2(x, self.ffn)
