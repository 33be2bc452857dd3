# family: core
# mistake: softmax-over-queries
# Softmax over the queries (axis 1) instead of the keys.
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        if d_v is None:
            d_v = d_k
        if d_context is None:
            d_context = d_model
        self.d_k = d_k
        self.W_q = nn.Linear(d_model, d_k, bias)
        self.W_k = nn.Linear(d_context, d_k, bias)
        self.W_v = nn.Linear(d_context, d_v, bias)

    def forward(self, x_q, x_kv, mask=None):
        scores = torch.einsum("bnd,bmd->bnm", self.W_q(x_q), self.W_k(x_kv)) * self.d_k**-0.5
        if mask is not None:
            mask = mask.expand_as(scores)
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = torch.softmax(scores, dim=1)  # wrong
        if mask is not None:
            weights = torch.where(mask, weights, torch.zeros_like(weights))
        return torch.einsum("bnm,bmd->bnd", weights, self.W_v(x_kv)), weights
