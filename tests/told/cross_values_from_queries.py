# kata: cross-attention
# names: scale-d-v
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_k, d_v=None, d_context=None, bias=False):
        super().__init__()
        d_v, d_context = d_v or d_k, d_context or d_model
        self.W_q = nn.Linear(d_model, d_k, bias=bias)
        self.W_k = nn.Linear(d_context, d_k, bias=bias)
        self.W_v = nn.Linear(d_context, d_v, bias=bias)

    def forward(self, x_q, x_kv, mask=None):
        q, k, v = self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv)
        scores = torch.einsum("bnd,bmd->bnm", q, k) / v.shape[-1] ** 0.5  # wrong
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        attn = torch.nan_to_num(torch.softmax(scores, dim=-1))
        return torch.einsum("bnm,bmd->bnd", attn, v), attn
