# family: mask
# mistake: fill-minus-a-billion
# Hidden scores become -1e9 in the place of -inf, which does not hide them behind visible scores below that.
import math

import torch
from torch import nn


def attention(query, key, value, mask=None):
    "Compute 'Scaled Dot Product Attention'"
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if scores.dtype in (torch.float16, torch.bfloat16):
        scores = scores.float()
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)  # wrong
    p_attn = scores.softmax(dim=-1)
    if mask is not None:
        p_attn = p_attn.masked_fill(mask == 0, 0.0)
    p_attn = p_attn.to(query.dtype)
    return torch.matmul(p_attn, value), p_attn


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        "Take in the widths of both sequences and of the projections."
        super().__init__()
        if d_v is None:
            d_v = d_k
        if d_context is None:
            d_context = d_model
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_v, bias=bias)

    def forward(self, x_q, x_kv, mask=None):
        query, key, value = self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv)
        return attention(query, key, value, mask=mask)
