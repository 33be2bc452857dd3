# family: mask
# mistake: none
# a batch in which one sequence sees nothing at all has no bias of W_o there
import math
import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads or n_heads % n_kv_heads:
            raise ValueError("sizes do not divide")
        self.h, self.g, self.d = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=bias)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        B, S, D = x.shape
        q = self.W_q(x).view(B, S, self.g, self.h // self.g, self.d).permute(0, 2, 3, 1, 4)
        k = self.W_k(x).view(B, S, self.g, 1, self.d).permute(0, 2, 3, 1, 4)
        v = self.W_v(x).view(B, S, self.g, 1, self.d).permute(0, 2, 3, 1, 4)
        s = (q @ k.transpose(-1, -2)) * self.d ** -0.5
        s = s.reshape(B, self.h, S, S)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            keep = mask.expand(B, self.h, S, S)
            s = s.masked_fill(~keep, -math.inf).masked_fill(~keep.any(-1, keepdim=True), 0)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~keep, 0)
        out = w.view(B, self.g, self.h // self.g, S, S) @ v
        y = self.W_o(out.permute(0, 3, 1, 2, 4).reshape(B, S, D))
        if mask is not None:
            y = y * keep.flatten(1).any(1).view(B, 1, 1)
        return y, w
