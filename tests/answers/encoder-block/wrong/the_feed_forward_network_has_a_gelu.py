# family: core
# mistake: gelu
# The feed-forward network has a GELU, not a ReLU.
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = (w(x).unflatten(2, (self.n_heads, -1)).transpose(1, 2) for w in (self.W_q, self.W_k, self.W_v))
        scores = (q / math.sqrt(q.shape[-1])) @ k.mT
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            blind = ~mask.any(-1, keepdim=True)
            scores = scores.masked_fill(~mask, -math.inf).masked_fill(blind, 0)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0)
        return self.W_o((self.dropout(weights) @ v).transpose(1, 2).flatten(2))


class FFN(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense2(F.gelu(self.dense1(x)))  # wrong


class AddNorm(nn.Module):
    def __init__(self, d_model: int, dropout: float) -> None:
        super().__init__()
        self.ln = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.ln(x + self.dropout(y))


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError("n_heads has to divide d_model")
        self.attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = FFN(d_model, d_ff)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        y = self.addnorm1(x, self.attention(x, mask))
        return self.addnorm2(y, self.ffn(y))
