from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear


class KV(NamedTuple):
    keys: Tensor
    values: Tensor


class Step(NamedTuple):
    output: Tensor
    cache: KV


class CachedSelfAttention(nn.Module):
    """Needs no causal mask: each new token is given exactly the prefix that it may see."""

    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        self.d_head, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError("d_model % n_heads != 0")
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))

    def heads(self, layer, x):
        return linear(x, layer.weight, layer.bias).reshape(*x.shape[:2], self.n_heads, self.d_head).permute(0, 2, 1, 3)

    def forward(self, x, cache=None, padding_mask=None):
        q, k, v = self.heads(self.W_q, x), self.heads(self.W_k, x), self.heads(self.W_v, x)
        start = 0
        if cache is not None:
            old_k, old_v = cache
            start = old_k.shape[2]
            k, v = torch.cat([old_k, k], 2), torch.cat([old_v, v], 2)
        rows = []
        for i in range(x.shape[1]):
            end = start + i + 1
            s = (q[:, :, i : i + 1] * k[:, :, :end]).sum(-1) / self.d_head**0.5
            if padding_mask is not None:
                keep = padding_mask[:, None, :end]
                s = s.masked_fill(~keep, float("-inf"))
                w = s.softmax(-1).masked_fill(~keep, 0.0)
            else:
                w = s.softmax(-1)
            rows.append((w[..., None] * v[:, :, :end]).sum(2))
        context = torch.stack(rows, dim=1).flatten(2)
        return Step(linear(context, self.W_o.weight, self.W_o.bias), KV(k, v))
