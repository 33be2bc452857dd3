# family: core
# mistake: causal-top-left
# The causal triangle is not shifted by the number of old tokens.
import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def _split(self, t: Tensor) -> Tensor:
        B, n, _ = t.shape
        return t.view(B, n, self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, x: Tensor, cache: Cache | None = None, padding_mask: Tensor | None = None):
        B, n, d = x.shape
        q = self._split(self.W_q(x))
        k = self._split(self.W_k(x))
        v = self._split(self.W_v(x))
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        T = k.size(2)
        visible = torch.tril(torch.ones(n, T, dtype=torch.bool, device=x.device))  # wrong
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        weights = scores.masked_fill(~visible, float("-inf")).softmax(-1).masked_fill(~visible, 0.0)
        out = (weights @ v).transpose(1, 2).reshape(B, n, d)
        return self.W_o(out), (k, v)
