import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        self.width, rest = divmod(d_model, n_heads)
        self.share, left_over = divmod(n_heads, n_kv_heads)
        if rest or left_over:
            raise ValueError("impossible sizes")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.width, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.width, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def part(self, h):
        return slice(h * self.width, (h + 1) * self.width)

    def forward(self, x, mask=None):
        Q, K, V = self.W_q(x), self.W_k(x), self.W_v(x)
        batch, length, _ = x.shape
        weights = x.new_zeros(batch, self.n_heads, length, length)
        context = torch.zeros_like(Q)
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            mask = mask.expand(batch, self.n_heads, length, length)
        for h in range(self.n_heads):
            g = h // self.share
            scores = Q[..., self.part(h)] @ K[..., self.part(g)].transpose(1, 2) / self.width**0.5
            if mask is not None:
                scores[~mask[:, h]] = float("-inf")
            p = scores.softmax(-1)
            if mask is not None:
                p = p.masked_fill(~mask[:, h], 0.0)
            weights[:, h] = p
            context[..., self.part(h)] = p @ V[..., self.part(g)]
        return self.W_o(context), weights
