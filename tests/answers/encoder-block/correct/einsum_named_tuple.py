from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Attended(NamedTuple):
    output: Tensor
    weights: Tensor


class Attention(nn.Module):
    def __init__(self, d_model, n_heads, dropout):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("heads do not fit")
        self.h = n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.p = dropout

    def forward(self, x, mask=None) -> Attended:
        q, k, v = (layer(x).unflatten(-1, (self.h, -1)) for layer in (self.W_q, self.W_k, self.W_v))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            while mask.dim() < 4:
                mask = mask.unsqueeze(1 if mask.dim() == 3 else 0)
            scores = torch.where(mask, scores, -torch.inf)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = torch.where(mask, weights, 0.0)
        context = torch.einsum("bhqk,bkhd->bqhd", F.dropout(weights, self.p, self.training), v)
        return Attended(self.W_o(context.flatten(-2)), weights)


class Residual(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.ln = nn.LayerNorm(d)
        self.p = p

    def forward(self, x, y):
        return self.ln(x + F.dropout(y, self.p, self.training))


class FFN(nn.Module):
    def __init__(self, d_model, d_ff, p):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.p = p

    def forward(self, x):
        return self.dense2(F.dropout(F.relu(self.dense1(x)), self.p, self.training))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention = Attention(d_model, n_heads, dropout)
        self.addnorm1 = Residual(d_model, dropout)
        self.ffn = FFN(d_model, d_ff, dropout)
        self.addnorm2 = Residual(d_model, dropout)

    def forward(self, x, mask=None):
        y = self.addnorm1(x, self.attention(x, mask).output)
        return self.addnorm2(y, self.ffn(y))
