# kata: cross-attention
# names: softmax-over-queries
import math
import torch
import torch.nn.functional as F
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        d_v = d_k if d_v is None else d_v
        d_context = d_model if d_context is None else d_context
        self.d_k = d_k
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_v, bias=bias)

    def forward(self, x_q, x_kv, mask=None):
        attn = torch.bmm(self.W_q(x_q), self.W_k(x_kv).transpose(1, 2)) / math.sqrt(self.d_k)
        if mask is not None:
            attn = attn.masked_fill(mask == 0, float("-inf"))
        attn = F.softmax(attn, dim=1)  # wrong
        attn = attn.masked_fill(mask == 0, 0.0) if mask is not None else attn
        return torch.bmm(attn, self.W_v(x_kv)), attn
