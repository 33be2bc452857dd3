# kata: mha
# names: before
import math

import torch
from torch import Tensor, nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model must be divisible by n_heads")
        self.n_heads, self.d_head, self.p = n_heads, d_model // n_heads, dropout
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self._fused = None

    def _qkv(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if q is k and k is v and not torch.is_grad_enabled():
            # one large product instead of three small ones
            layers = (self.W_q, self.W_k, self.W_v)
            if self._fused is None:  # wrong, named
                weight = torch.cat([layer.weight for layer in layers])
                bias = None if self.W_q.bias is None else torch.cat([layer.bias for layer in layers])
                self._fused = (weight, bias)
            return F.linear(q, *self._fused).chunk(3, dim=-1)
        return self.W_q(q), self.W_k(k), self.W_v(v)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        heads = [x.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2) for x in self._qkv(q, k, v)]
        q, k, v = heads
        kind = torch.promote_types(q.dtype, torch.float32)
        scores = q.to(kind) @ k.to(kind).transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0)
        weights = weights.to(v.dtype)
        context = F.dropout(weights, self.p, self.training) @ v
        return self.W_o(context.transpose(1, 2).flatten(2)), weights
