# kata: gqa
# names:
"""Grouped-query attention."""

import torch
from torch import Tensor, nn


class GroupedQueryAttention(nn.Module):
    """Self-attention in which groups of query heads share key and value heads."""

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, bias: bool = False) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"n_heads = {n_heads} does not divide d_model = {d_model}")
        if n_heads % n_kv_heads:
            raise ValueError(f"n_kv_heads = {n_kv_heads} does not divide n_heads = {n_heads}")
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.d_head = d_model // n_heads
        self.scale = (d_model // n_kv_heads) ** -0.5  # wrong
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        b, s, d = x.shape
        g, r = self.n_kv_heads, self.n_heads // self.n_kv_heads
        q = self.W_q(x).view(b, s, g, r, self.d_head)
        k = self.W_k(x).view(b, s, g, self.d_head)
        v = self.W_v(x).view(b, s, g, self.d_head)
        sim = torch.einsum("bigrd,bjgd->bgrij", q * self.scale, k).reshape(b, self.n_heads, s, s)
        if mask is None:
            attn = sim.softmax(dim=-1)
        else:
            hidden = ~mask[:, None] if mask.dim() == 3 else ~mask
            attn = sim.masked_fill(hidden, float("-inf")).softmax(dim=-1).masked_fill(hidden, 0.0)
        grouped = attn.reshape(b, g, r, s, s)
        out = torch.einsum("bgrij,bjgd->bigrd", grouped, v).reshape(b, s, d)
        return self.W_o(out), attn
