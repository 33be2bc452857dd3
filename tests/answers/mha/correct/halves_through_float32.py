import math

import torch
from torch import nn


def attend(q, k, v, keep, drop):
    dtype = q.dtype
    wide = torch.promote_types(dtype, torch.float32)
    logits = (q.to(wide) @ k.to(wide).transpose(2, 3)) / math.sqrt(q.shape[3])
    bias = torch.zeros((), dtype=wide, device=q.device)
    if keep is not None:
        bias = torch.where(keep, bias, torch.full_like(bias, torch.finfo(wide).min))
    w = torch.softmax(logits + bias, dim=3)
    if keep is not None:
        w = torch.where(keep, w, torch.zeros_like(bias))
    return (drop(w) @ v.to(wide)).to(dtype), w.to(dtype)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("not divisible")
        self.n_heads = n_heads
        self.attn_drop = nn.Dropout(dropout)
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, q, k, v, mask=None):
        B, n, D = q.shape
        to_heads = lambda t: t.view(B, -1, self.n_heads, D // self.n_heads).transpose(1, 2)
        if mask is not None and mask.dim() == 2:
            mask = mask[None, None]
        elif mask is not None and mask.dim() == 3:
            mask = mask[:, None]
        out, w = attend(to_heads(self.W_q(q)), to_heads(self.W_k(k)), to_heads(self.W_v(v)), mask, self.attn_drop)
        return self.W_o(out.transpose(1, 2).reshape(B, n, D)), w
