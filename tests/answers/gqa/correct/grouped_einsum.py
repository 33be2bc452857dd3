import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    """Five axes: nothing is copied."""

    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError("heads do not fit")
        self.g, self.r, self.d = n_kv_heads, n_heads // n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias)
        self.W_o = nn.Linear(d_model, d_model, bias)

    def forward(self, x, mask=None):
        q = self.W_q(x).unflatten(-1, (self.g, self.r, self.d))
        k = self.W_k(x).unflatten(-1, (self.g, self.d))
        v = self.W_v(x).unflatten(-1, (self.g, self.d))
        scores = torch.einsum("bngrd,bmgd->bgrnm", q, k) * self.d**-0.5
        if mask is not None:
            while mask.ndim < 4:
                mask = mask.unsqueeze(1) if mask.ndim == 3 else mask.unsqueeze(0)
            mask = mask.unflatten(1, (self.g, self.r)) if mask.size(1) > 1 else mask.unsqueeze(2)
            scores = torch.where(mask, scores, float("-inf"))
        weights = scores.softmax(-1)
        if mask is not None:
            weights = torch.where(mask, weights, 0.0)
        context = torch.einsum("bgrnm,bmgd->bngrd", weights, v).flatten(2)
        return self.W_o(context), weights.flatten(1, 2)
