# family: core
# mistake: mask-repeated-in-blocks
# A mask of three axes is repeated over the folded heads in the wrong order (repeat, not repeat_interleave).
"""Multi-head attention in the style of d2l.ai: heads are folded into the batch, head h of sequence b at b * H + h."""

import math

import torch
from torch import Tensor, nn


def masked_softmax(X: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return torch.softmax(X, dim=-1)
    X = X.masked_fill(~mask, float("-inf"))
    X = X.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return torch.softmax(X, dim=-1).masked_fill(~mask, 0.0)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        self.num_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def transpose_qkv(self, X: Tensor) -> Tensor:
        X = X.reshape(X.shape[0], X.shape[1], self.num_heads, -1)
        X = X.permute(0, 2, 1, 3)
        return X.reshape(-1, X.shape[2], X.shape[3])

    def transpose_output(self, X: Tensor) -> Tensor:
        X = X.reshape(-1, self.num_heads, X.shape[1], X.shape[2])
        X = X.permute(0, 2, 1, 3)
        return X.reshape(X.shape[0], X.shape[1], -1)

    def fold_mask(self, mask: Tensor, B: int, n: int, m: int) -> Tensor:
        if mask.dim() == 2:
            return mask.expand(B * self.num_heads, n, m)
        if mask.dim() == 3:
            return mask.expand(B, n, m).repeat(self.num_heads, 1, 1)  # wrong
        return mask.expand(B, self.num_heads, n, m).reshape(-1, n, m)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        B, n, m = q.shape[0], q.shape[1], k.shape[1]
        queries, keys, values = (
            self.transpose_qkv(self.W_q(q)),
            self.transpose_qkv(self.W_k(k)),
            self.transpose_qkv(self.W_v(v)),
        )
        if mask is not None:
            mask = self.fold_mask(mask, B, n, m)
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        weights = masked_softmax(scores, mask)
        output = torch.bmm(self.dropout(weights), values)
        return self.W_o(self.transpose_output(output)), weights.reshape(B, self.num_heads, n, m)
