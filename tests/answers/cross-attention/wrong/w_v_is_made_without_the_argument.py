# family: core
# mistake: none
# W_v is made without the argument bias, so it has one always.
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
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_v)  # wrong

    def forward(self, x_q: Tensor, x_kv: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        q, k, v = self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv)
        scores = torch.bmm(q / math.sqrt(q.shape[-1]), k.transpose(1, 2))
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            nothing = ~mask.any(dim=-1, keepdim=True)
            scores = scores.masked_fill(~mask, float("-inf")).masked_fill(nothing, 0.0)
            weights = scores.softmax(dim=-1).masked_fill(~mask, 0.0)
        return torch.bmm(weights, v), weights
