# kata: encoder-block
# names:
import torch
from torch import Tensor, nn


class Attention(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.W_q = nn.Linear(d, d)
        self.W_k = nn.Linear(d, d)
        self.W_v = nn.Linear(d, d)
        self.W_o = nn.Linear(d, d)
        self.h = h
        self.dropout = nn.Dropout(p)

    def split(self, x):
        return x.unflatten(-1, (self.h, -1)).transpose(1, 2)

    def forward(self, x, mask=None):
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        s = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            s = s.masked_fill(~mask, float("-inf"))
            s = s.masked_fill(~mask.any(-1, keepdim=True), 0.0)
            w = torch.softmax(s, -1).masked_fill(~mask, 0.0)
        else:
            w = torch.softmax(s, -1)
        c = self.dropout(w) @ v
        return self.W_o(c.transpose(1, 2).flatten(2))


class FFN(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.dense1 = nn.Linear(d, f)
        self.dense2 = nn.Linear(f, d)

    def forward(self, x):
        return self.dense2(torch.relu(self.dense1(x)))


class AddNorm(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.ln = nn.LayerNorm(d)
        self.dropout = nn.Dropout(p)

    def forward(self, x, y):
        return self.ln(x + self.dropout(y))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.attention = Attention(d_model, n_heads, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x, mask=None):
        y = self.addnorm1(x, self.attention(x, mask))
        f = self.ffn(y)
        if self.training and self.addnorm2.dropout.p:
            f = f * self.addnorm2.dropout(torch.ones_like(f[:, :1]))  # wrong
        return self.addnorm2.ln(y + f)
