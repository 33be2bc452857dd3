# family: cost
# mistake: keys-and-values-made
"""Makes keys and values of all tokens in each step."""

import math

import torch
from torch import nn


def rotate(x, start):
    d = x.size(-1)
    pos = torch.arange(start, start + x.size(-2), device=x.device, dtype=torch.float64)
    angles = pos[:, None] / 10000 ** (torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if d_model % n_heads or d_rope % 2:
            raise ValueError("sizes")
        self.n_heads, self.d_head, self.d_rope = n_heads, d_model // n_heads, d_rope
        self.W_q = nn.Linear(d_model, n_heads * (self.d_head + d_rope), bias=False)
        self.W_dkv = nn.Linear(d_model, d_latent, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_uk = nn.Linear(d_latent, d_model, bias=False)
        self.W_uv = nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, n, _ = x.shape
        past = 0 if cache is None else cache[0].size(1)
        q = self.W_q(x).view(B, n, self.n_heads, -1).transpose(1, 2)
        q = torch.cat([q[..., : self.d_head], rotate(q[..., self.d_head :], past)], -1)
        c, r = self.W_dkv(x), rotate(self.W_kr(x), past)
        if cache is not None:
            c, r = torch.cat([cache[0], c], 1), torch.cat([cache[1], r], 1)
        T = c.size(1)
        k = self.W_uk(c).view(B, T, self.n_heads, -1).transpose(1, 2)
        v = self.W_uv(c).view(B, T, self.n_heads, -1).transpose(1, 2)
        k = torch.cat([k, r[:, None].expand(-1, self.n_heads, -1, -1)], -1)
        scores = q @ k.transpose(2, 3) / math.sqrt(self.d_head + self.d_rope)
        mask = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).reshape(B, n, -1)), (c, r)
