# family: mask
# mistake: none
# A query that sees no key gets a context of 0, but the weights that are returned for it are left uniform.
import math

import torch
from torch import Tensor, nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int, bias: bool = False) -> None:
        super().__init__()
        if d_model % n_heads != 0 or n_heads % n_kv_heads != 0:
            raise ValueError(f"impossible sizes: {d_model}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.d_head = d_model // n_heads
        width = n_kv_heads * self.d_head
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, width, bias=bias)
        self.W_v = nn.Linear(d_model, width, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        if mask is not None:
            mask = mask.expand(x.shape[0], self.n_heads, x.shape[1], x.shape[1])
        all_q, all_k, all_v = self.W_q(x), self.W_k(x), self.W_v(x)
        contexts, all_weights = [], []
        for h in range(self.n_heads):
            g = h // (self.n_heads // self.n_kv_heads)
            q = all_q[..., h * self.d_head : (h + 1) * self.d_head]
            k = all_k[..., g * self.d_head : (g + 1) * self.d_head]
            v = all_v[..., g * self.d_head : (g + 1) * self.d_head]
            scores = q @ k.transpose(1, 2) / math.sqrt(self.d_head)
            if mask is None:
                weights = torch.softmax(scores, dim=-1)
                context = weights @ v
            else:
                blind = ~mask[:, h].any(dim=-1, keepdim=True)
                visible = mask[:, h] | blind
                weights = torch.softmax(scores.masked_fill(~visible, float("-inf")), dim=-1)
                context = (weights @ v).masked_fill(blind, 0.0)
            contexts.append(context)
            all_weights.append(weights)  # wrong
        return self.W_o(torch.cat(contexts, dim=-1)), torch.stack(all_weights, dim=1)
