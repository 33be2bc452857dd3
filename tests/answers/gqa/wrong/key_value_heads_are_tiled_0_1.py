# family: core
# mistake: heads-tiled
# Key/value heads are tiled (0 1 0 1 0 1), not repeated in a row (0 0 0 1 1 1).
import math
import torch
from torch import Tensor, nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, bias: bool = False) -> None:
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError("sizes do not divide")
        self.H, self.G, self.d_head = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def share(self, t: Tensor) -> Tensor:
        return t.repeat(1, self.H // self.G, 1, 1)  # wrong

    def forward(self, x: Tensor, mask: Tensor | None = None):
        B, S, d = x.shape
        q = self.W_q(x).view(B, S, self.H, self.d_head).transpose(1, 2)
        k = self.W_k(x).view(B, S, self.G, self.d_head).transpose(1, 2)
        v = self.W_v(x).view(B, S, self.G, self.d_head).transpose(1, 2)
        k, v = self.share(k), self.share(v)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d_head)
        if mask is not None:
            mask = mask[:, None] if mask.dim() == 3 else mask
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        out = (weights @ v).transpose(1, 2).reshape(B, S, d)
        return self.W_o(out), weights
