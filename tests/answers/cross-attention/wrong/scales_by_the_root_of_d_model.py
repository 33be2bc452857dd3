# family: core
# mistake: scale-d-model
# Scales by the root of d_model, should be that of d_k.
import torch
from torch import nn


class CrossAttention(nn.Module):
    """q from one sequence, k and v from another."""

    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        d_v = d_k if d_v is None else d_v
        d_context = d_model if d_context is None else d_context
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_v, bias=bias)

    def forward(self, x_q, x_kv, mask=None):
        k, v = self.W_k(x_kv), self.W_v(x_kv)
        q = self.W_q(x_q) / x_q.shape[-1] ** 0.5  # wrong
        w = torch.matmul(q, k.permute(0, 2, 1))
        if mask is not None:
            w = w.masked_fill(~mask, float("-inf"))
        w = torch.softmax(w, dim=2)
        if mask is not None:
            w = w.masked_fill(~mask, 0)
        return torch.matmul(w, v), w
