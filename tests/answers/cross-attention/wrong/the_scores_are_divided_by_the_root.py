# family: core
# mistake: scale-d-model
# The scores are divided by the root of d_model, not of d_k.
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
        self.W_v = nn.Linear(d_context, d_v, bias=bias)

    def forward(self, x_q: Tensor, x_kv: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        q = self.W_q(x_q)
        k = self.W_k(x_kv)
        v = self.W_v(x_kv)
        scores = torch.einsum("bnd,bmd->bnm", q, k) / math.sqrt(x_q.shape[-1])  # wrong
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1).masked_fill(~mask, 0.0)
        return torch.einsum("bnm,bmd->bnd", weights, v), weights
