# family: core
# mistake: none
# W_k takes d_model features, but it reads the context.
import math

import torch
from torch import Tensor, nn


class CrossAttention(nn.Module):
    def __init__(
        self, d_model: int, d_k: int, d_v: int | None = None, d_context: int | None = None, bias: bool = False
    ) -> None:
        super().__init__()
        d_v = d_k if d_v is None else d_v
        d_context = d_model if d_context is None else d_context
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_model, d_k, bias=bias)  # wrong
        self.W_v = nn.Linear(d_context, d_v, bias=bias)
        self.scale = math.sqrt(d_k)

    def forward(self, x_q: Tensor, x_kv: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        q, k, v = self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv)
        scores = torch.bmm(q, k.transpose(1, 2)) / self.scale
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        return torch.bmm(weights, v), weights
