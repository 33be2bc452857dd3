# family: core
# mistake: heads-tiled
# Keys and values are tiled (0 1 0 1) in the place of repeated one by one (0 0 1 1): heads get the wrong group.
import torch
from torch import Tensor, nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, bias: bool = False) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        if n_heads % n_kv_heads != 0:
            raise ValueError("n_kv_heads must divide n_heads")
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_v = nn.Linear(d_model, n_kv_heads * self.d_head, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        B, S, d_model = x.shape
        q = self.W_q(x).view(B, S, self.n_heads, self.d_head).transpose(1, 2)
        k = self.W_k(x).view(B, S, self.n_kv_heads, self.d_head).transpose(1, 2)
        v = self.W_v(x).view(B, S, self.n_kv_heads, self.d_head).transpose(1, 2)
        copies = self.n_heads // self.n_kv_heads
        k, v = (t.repeat(1, copies, 1, 1) for t in (k, v))  # wrong
        scores = q @ k.transpose(-2, -1) / self.d_head**0.5
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1).masked_fill(~mask, 0.0)
        output = (weights @ v).transpose(1, 2).reshape(B, S, d_model)
        return self.W_o(output), weights
