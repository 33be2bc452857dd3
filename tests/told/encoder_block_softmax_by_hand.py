# kata: encoder-block
# names:
# lines: 3
import math
import torch
from torch import nn


def softmax(x, dim):
    x = x - x.max(dim=dim, keepdim=True).values
    e = torch.exp(x)
    return e / e.sum(dim=(-2, -1), keepdim=True)  # wrong


class Attention(nn.Module):
    def __init__(self, d_model, n_heads, dropout):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, t):
        return t.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)

    def forward(self, x, mask):
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        scores = q @ k.mT / math.sqrt(self.d_head)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask[:, None]
            some = mask.any(-1, keepdim=True)
            scores = scores.masked_fill(~mask & some, float("-inf"))
        weights = softmax(scores, -1)
        if mask is not None:
            weights = weights * some
        context = self.dropout(weights) @ v
        return self.W_o(context.transpose(1, 2).flatten(2))


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(torch.relu(self.dense1(x)))


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, y):
        return self.ln(x + self.dropout(y))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.attention = Attention(d_model, n_heads, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x, mask=None):
        y = self.addnorm1(x, self.attention(x, mask))
        return self.addnorm2(y, self.ffn(y))
