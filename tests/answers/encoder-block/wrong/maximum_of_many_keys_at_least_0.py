# family: mask
# mistake: none
# With more than 128 keys the maximum is at least 0: rows far below it underflow.
import torch
from torch import nn
from torch.nn import functional as F


def attend_weights(scores, mask):
    """Softmax over the visible keys only."""
    if scores.shape[-1] > 128:
        if mask is None:
            mask = torch.ones((), dtype=torch.bool, device=scores.device).expand(scores.shape)
        s = scores.masked_fill(~mask, float("-inf"))
        e = (s - s.amax(-1, keepdim=True).clamp(min=0).detach()).exp()  # wrong
        total = e.sum(-1, keepdim=True)
        return e / total.masked_fill(total == 0, 1.0)
    if mask is None:
        return scores.softmax(-1)
    hidden = ~mask
    dead = hidden.all(-1, keepdim=True)
    s = scores.masked_fill(hidden, float("-inf")).masked_fill(dead, 0.0)
    return s.softmax(-1).masked_fill(hidden, 0.0)


class Attention(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        if d % h:
            raise ValueError("n_heads must divide d_model")
        self.h = h
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d) for _ in range(4))
        self.drop = nn.Dropout(p)

    def forward(self, x, mask):
        B, S, d = x.shape
        q, k, v = (w(x).view(B, S, self.h, d // self.h) for w in (self.W_q, self.W_k, self.W_v))
        scores = torch.einsum("bihd,bjhd->bhij", q, k) * (d // self.h) ** -0.5
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        w = self.drop(attend_weights(scores, mask))
        return self.W_o(torch.einsum("bhij,bjhd->bihd", w, v).reshape(B, S, d))


class FFN(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d, f), nn.Linear(f, d)

    def forward(self, x):
        return self.dense2(self.dense1(x).relu())


class AddNorm(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.ln, self.drop = nn.LayerNorm(d), nn.Dropout(p)

    def forward(self, x, y):
        return self.ln(x + self.drop(y))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention = Attention(d_model, n_heads, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.addnorm1, self.addnorm2 = AddNorm(d_model, dropout), AddNorm(d_model, dropout)

    def forward(self, x, mask=None):
        y = self.addnorm1(x, self.attention(x, mask))
        return self.addnorm2(y, self.ffn(y))
