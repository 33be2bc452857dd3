# family: core
# mistake: none
# W_o never gets the bias.
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads != 0 or n_heads % n_kv_heads != 0:
            raise ValueError("n_kv_heads | n_heads | d_model")
        self.h, self.g, self.dh = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, n_heads * self.dh, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.dh, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.dh, bias=bias)
        self.W_o = nn.Linear(n_heads * self.dh, d_model, bias=False)  # wrong

    def forward(self, x, mask=None):
        if mask is not None and mask.dim() == 3:
            mask = mask[:, None]
        size = self.h // self.g
        qs = self.W_q(x).split(self.dh, dim=-1)
        ks = self.W_k(x).split(self.dh, dim=-1)
        vs = self.W_v(x).split(self.dh, dim=-1)
        scores = torch.stack([qs[i] @ ks[i // size].transpose(1, 2) for i in range(self.h)], dim=1)
        scores = scores / self.dh**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = torch.cat([weights[:, i] @ vs[i // size] for i in range(self.h)], dim=-1)
        return self.W_o(context), weights
