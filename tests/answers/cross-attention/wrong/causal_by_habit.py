# family: core
# mistake: none
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        d_v = d_k if d_v is None else d_v
        d_context = d_model if d_context is None else d_context
        self.scale = d_k**-0.5
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_v, bias=bias)

    def forward(self, x_q, x_kv, mask=None):
        q, k, v = self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv)
        scores = q @ k.transpose(1, 2) * self.scale
        n, m = scores.shape[-2:]
        keep = torch.ones(n, m, dtype=torch.bool, device=scores.device).tril(m - n)
        if mask is not None:
            keep = keep & mask
        scores = scores.masked_fill(~keep, float("-inf"))
        weights = scores.softmax(-1).masked_fill(~keep, 0.0)
        return weights @ v, weights
