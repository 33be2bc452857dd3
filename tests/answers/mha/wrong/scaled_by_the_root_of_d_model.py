# family: core
# mistake: scale-d-model
# Scaled by the root of d_model instead of d_head.
import math
import torch
from torch import nn


def attention(query, key, value, d_k, mask=None, dropout=None):
    "Scaled dot product attention, as in the annotated transformer"
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == False, float("-inf"))  # noqa: E712
    p_attn = scores.softmax(dim=-1)
    if mask is not None:
        p_attn = p_attn.masked_fill(mask == False, 0.0)  # noqa: E712
    p_drop = dropout(p_attn) if dropout is not None else p_attn
    return torch.matmul(p_drop, value), p_attn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads != 0")
        self.d_model = d_model
        self.d_k = d_model // n_heads
        self.h = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, q, k, v, mask=None):
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        nbatches = q.size(0)
        query, key, value = [
            lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for lin, x in zip((self.W_q, self.W_k, self.W_v), (q, k, v))
        ]
        x, attn = attention(query, key, value, self.d_model, mask=mask, dropout=self.dropout)  # wrong
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.W_o(x), attn
