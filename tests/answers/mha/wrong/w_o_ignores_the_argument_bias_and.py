# family: core
# mistake: bias-always-in-w-o
# W_o ignores the argument bias and always has one.
import math

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model)  # wrong
        self.dropout = nn.Dropout(dropout)

    def split(self, x: Tensor) -> Tensor:
        B, S, _ = x.shape
        return x.reshape(B, S, self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        q, k, v = self.split(self.W_q(q)), self.split(self.W_k(k)), self.split(self.W_v(v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, H, n, m)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)  # per sequence, for all heads
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = self.dropout(weights) @ v
        B, H, n, d = context.shape
        return self.W_o(context.transpose(1, 2).reshape(B, n, H * d)), weights
