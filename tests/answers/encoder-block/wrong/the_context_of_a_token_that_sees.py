# family: mask
# mistake: blind-tokens-without-bias
# The context of a token that sees nothing is set to 0 behind W_o, so its bias is lost.
import torch
from torch import nn


class Attn(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.h, self.dh = h, d // h
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d) for _ in range(4))
        self.p = nn.Dropout(p)

    def forward(self, x, mask):
        B, S, d = x.shape
        q = self.W_q(x).view(B, S, self.h, self.dh).transpose(1, 2)
        k = self.W_k(x).view(B, S, self.h, self.dh).transpose(1, 2)
        v = self.W_v(x).view(B, S, self.h, self.dh).transpose(1, 2)
        s = (q @ k.transpose(2, 3)) / self.dh**0.5
        if mask is None:
            return self.W_o((self.p(s.softmax(-1)) @ v).transpose(1, 2).reshape(B, S, d))
        if mask.dim() == 3:
            mask = mask.unsqueeze(1)
        w = s.masked_fill(~mask, float("-inf")).softmax(-1).masked_fill(~mask, 0.0)
        out = self.W_o((self.p(w) @ v).transpose(1, 2).reshape(B, S, d))
        sees = mask.expand(B, self.h, S, S).any(-1).any(1)
        return out * sees.unsqueeze(-1)  # wrong


class FFN(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d, f), nn.Linear(f, d)

    def forward(self, x):
        return self.dense2(self.dense1(x).clamp(min=0))


class AddNorm(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.ln, self.p = nn.LayerNorm(d), nn.Dropout(p)

    def forward(self, x, y):
        return self.ln(self.p(y) + x)


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads")
        self.attention = Attn(d_model, n_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x, mask=None):
        y = self.addnorm1(x, self.attention(x, mask))
        return self.addnorm2(y, self.ffn(y))
