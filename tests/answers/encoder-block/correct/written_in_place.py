import math

import torch
from torch import Tensor, nn


class MHA(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.n_heads = n_heads
        self.dropout = nn.Dropout(dropout)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None):
        B, n, D = q.shape
        m, H = k.size(1), self.n_heads
        qh = self.W_q(q).view(B, n, H, D // H).transpose(1, 2)
        kh = self.W_k(k).view(B, m, H, D // H).transpose(1, 2)
        vh = self.W_v(v).view(B, m, H, D // H).transpose(1, 2)
        scores = qh @ kh.transpose(2, 3)
        scores /= math.sqrt(D // H)
        if mask is not None:
            full = torch.empty(B, H, n, m, dtype=torch.bool, device=mask.device)
            full[:] = mask[:, None] if mask.dim() == 3 else mask
            scores[~full] = float("-inf")
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.clone()
            weights[~full] = 0.0
        out = torch.empty_like(q, dtype=vh.dtype)
        context = self.dropout(weights) @ vh
        out = context.transpose(1, 2).contiguous().view(B, n, D)
        return self.W_o(out), weights


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(d_model)

    def forward(self, x, y):
        return self.ln(self.dropout(y) + x)


class PositionWiseFFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.dense1 = nn.Linear(d_model, d_ff)
        self.relu = nn.ReLU(inplace=True)
        self.dense2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.dense2(self.relu(self.dense1(x)))


class EncoderBlock(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be a multiple of n_heads")
        self.attention = MHA(d_model, n_heads, dropout)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.ffn = PositionWiseFFN(d_model, d_ff)
        self.addnorm2 = AddNorm(d_model, dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        attended, _ = self.attention(x, x, x, mask)
        y = self.addnorm1(x, attended)
        return self.addnorm2(y, self.ffn(y))
