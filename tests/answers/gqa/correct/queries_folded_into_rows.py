import math

import torch
import torch.nn as nn


class GroupedQueryAttention(nn.Module):
    """The heads of a group stand below each other as rows of one bmm."""

    def __init__(self, d_model, n_heads, n_kv_heads, bias=False):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("n_heads")
        if n_heads % n_kv_heads != 0:
            raise ValueError("n_kv_heads")
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model * n_kv_heads // n_heads, bias=bias)
        self.W_v = nn.Linear(d_model, d_model * n_kv_heads // n_heads, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        B, S, D = x.shape
        H, G, d = self.n_heads, self.n_kv_heads, self.d_head
        q = self.W_q(x).view(B, S, H, d).permute(0, 2, 1, 3).reshape(B * G, (H // G) * S, d)
        k = self.W_k(x).view(B, S, G, d).permute(0, 2, 3, 1).reshape(B * G, d, S)
        v = self.W_v(x).view(B, S, G, d).permute(0, 2, 1, 3).reshape(B * G, S, d)
        scores = torch.bmm(q, k).div_(math.sqrt(d)).view(B, H, S, S)
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            bias = torch.zeros(mask.shape, dtype=scores.dtype, device=x.device)
            bias.masked_fill_(~mask, torch.finfo(scores.dtype).min)
            scores = torch.where(mask, scores, bias)
        weights = torch.softmax(scores, -1)
        if mask is not None:
            weights = weights * mask
        context = torch.bmm(weights.reshape(B * G, -1, S), v).view(B, H, S, d)
        return self.W_o(context.transpose(1, 2).reshape(B, S, D)), weights
