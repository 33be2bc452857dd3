# kata: self-attention
# names:
"""Self-attention with one head: a sequence looks at itself."""

import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    """Single-head scaled dot-product self-attention."""

    def __init__(self, d_model: int, d_k: int, d_v: int | None = None, bias: bool = False) -> None:
        super().__init__()
        self.W_q = self.W_k = nn.Linear(d_model, d_k, bias=bias)  # wrong
        self.W_v = nn.Linear(d_model, d_k if d_v is None else d_v, bias=bias)
        self.inv_sqrt = d_k**-0.5

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        sim = torch.einsum("bqd,bkd->bqk", self.W_q(x) * self.inv_sqrt, self.W_k(x))
        if mask is not None:
            sim = sim.masked_fill(~mask, float("-inf"))
        attn = sim.softmax(dim=-1)
        if mask is not None:
            attn = attn.masked_fill(~mask, 0.0)
        return torch.einsum("bqk,bkv->bqv", attn, self.W_v(x)), attn
