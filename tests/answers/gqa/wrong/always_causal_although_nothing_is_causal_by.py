# family: core
# mistake: causal-by-itself
# Always causal, although nothing is causal by itself.
import math
import torch
from torch import Tensor, nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, bias: bool = False) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("heads")
        if n_heads % n_kv_heads != 0:
            raise ValueError("groups")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.d_head = d_model // n_heads
        kv = n_kv_heads * self.d_head
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, kv, bias=bias)
        self.W_v = nn.Linear(d_model, kv, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def _split(self, t: Tensor, heads: int) -> Tensor:
        return t.unflatten(2, (heads, self.d_head)).transpose(1, 2)

    def forward(self, x: Tensor, mask: Tensor | None = None):
        S = x.size(1)
        rep = self.n_heads // self.n_kv_heads
        q = self._split(self.W_q(x), self.n_heads)
        k = self._split(self.W_k(x), self.n_kv_heads).repeat_interleave(rep, dim=1)
        v = self._split(self.W_v(x), self.n_kv_heads).repeat_interleave(rep, dim=1)
        visible = torch.ones(S, S, dtype=torch.bool, device=x.device).tril()  # wrong
        if mask is not None:
            visible = visible & (mask.unsqueeze(1) if mask.dim() == 3 else mask)
        att = (q @ k.mT) / math.sqrt(self.d_head)
        att = att.masked_fill(~visible, float("-inf"))
        att = att.softmax(dim=-1).masked_fill(~visible, 0.0)
        y = (att @ v).transpose(1, 2).flatten(2)
        return self.W_o(y), att
