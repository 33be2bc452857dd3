# family: core
# mistake: scale-d-model
# The scores are divided by the root of d_model, not of d_head.
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError("heads do not fit")
        d_head = d_model // n_heads
        self.groups, self.per_group = n_kv_heads, n_heads // n_kv_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * d_head, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * d_head, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        q = self.W_q(x).unflatten(-1, (self.groups, self.per_group, -1))
        k = self.W_k(x).unflatten(-1, (self.groups, -1))
        v = self.W_v(x).unflatten(-1, (self.groups, -1))
        scores = torch.einsum("bigrd,bjgd->bgrij", q, k) * x.size(-1) ** -0.5  # wrong
        scores = scores.flatten(1, 2)
        if mask is not None:
            mask = mask[:, None] if mask.dim() == 3 else mask
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0)
        grouped = weights.unflatten(1, (self.groups, self.per_group))
        context = torch.einsum("bgrij,bjgd->bigrd", grouped, v).flatten(2)
        return self.W_o(context), weights
