# family: core
# mistake: values-tiled
# The values are tiled (0 1 0 1 ...) over the query heads, not each repeated for its group as the keys are.
import math

import torch
from torch import Tensor, nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, bias: bool = False) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError("n_heads has to divide d_model")
        if n_kv_heads < 1 or n_heads % n_kv_heads:
            raise ValueError("n_kv_heads has to divide n_heads")
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        group = self.n_heads // self.n_kv_heads
        q = self._split(self.W_q(x))
        k = self._split(self.W_k(x)).repeat_interleave(group, dim=1)
        v = self._split(self.W_v(x)).repeat(1, group, 1, 1)  # wrong
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            blind = ~mask.any(dim=-1, keepdim=True)
            weights = scores.masked_fill(~mask, -math.inf).masked_fill(blind, 0.0).softmax(dim=-1)
            weights = weights.masked_fill(~mask, 0.0)
        output = self.W_o((weights @ v).transpose(1, 2).flatten(-2))
        return output, weights
