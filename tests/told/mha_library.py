# kata: mha
# names:
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("no")
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.attn = nn.MultiheadAttention(d_model, n_heads, dropout, bias=bias, batch_first=True)  # wrong

    def forward(self, q, k, v, mask=None):
        if mask is not None and mask.dim() == 3:
            mask = mask.repeat_interleave(self.attn.num_heads, 0)
        out, w = self.attn(self.W_q(q), self.W_k(k), self.W_v(v), attn_mask=None if mask is None else ~mask,
                           average_attn_weights=False)
        return self.W_o(out), w
