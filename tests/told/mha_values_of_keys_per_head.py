# kata: mha
# names:
# lines: 3
import math
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask=None):
        queries, keys, values = self.W_q(q), self.W_k(k), self.W_v(v)
        if mask is not None:
            if mask.dim() == 2:
                mask = mask[None, None]
            elif mask.dim() == 3:
                mask = mask[:, None]
            mask = mask.expand(q.size(0), self.n_heads, q.size(1), k.size(1))
        contexts, all_weights = [], []
        for h in range(self.n_heads):
            part = slice(h * self.d_head, (h + 1) * self.d_head)
            q_h, k_h, v_h = queries[..., part], keys[..., part], keys[..., part]  # wrong
            scores = q_h @ k_h.transpose(1, 2) / math.sqrt(self.d_head)
            if mask is not None:
                visible = mask[:, h]
                scores = scores.masked_fill(~visible, float("-inf"))
                empty = ~visible.any(-1, keepdim=True)
                scores = scores.masked_fill(empty, 0.0)
            weights = torch.softmax(scores, dim=-1)
            if mask is not None:
                weights = weights.masked_fill(empty, 0.0)
            all_weights.append(weights)
            contexts.append(self.dropout(weights) @ v_h)
        context = torch.cat(contexts, dim=-1)
        return self.W_o(context), torch.stack(all_weights, dim=1)
