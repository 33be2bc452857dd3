# family: core
# mistake: mask-two-axes-as-padding
# A mask (n, m) gets its batch axis behind the queries, so its rows are taken for sequences.
import math

import torch
from torch import Tensor, nn


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        d_v = d_v if d_v is not None else d_k
        d_context = d_context if d_context is not None else d_model
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_v, bias=bias)

    @staticmethod
    def _three_axes(mask: Tensor) -> Tensor:
        if mask.dim() == 2:
            mask = mask.unsqueeze(1)  # wrong
        return mask

    def forward(self, x_q: Tensor, x_kv: Tensor, mask: Tensor | None = None):
        queries = self.W_q(x_q)
        keys = self.W_k(x_kv)
        values = self.W_v(x_kv)
        scores = queries @ keys.transpose(-2, -1)
        scores = scores / math.sqrt(keys.size(-1))
        if mask is None:
            weights = scores.softmax(dim=-1)
            return weights @ values, weights
        hidden = ~self._three_axes(mask)
        weights = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1)
        weights = weights.masked_fill(hidden, 0.0)
        return weights @ values, weights
