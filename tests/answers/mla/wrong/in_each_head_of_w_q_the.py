# family: core
# mistake: rotary-part-first
# In each head of W_q the rotary part is taken to come first, not last.
from typing import Optional, Tuple

import torch
import torch.nn as nn
from torch import Tensor

Cache = Tuple[Tensor, Tensor]


class Rotary(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def table(self, start: int, stop: int, like: Tensor) -> Tuple[Tensor, Tensor]:
        dtype = torch.promote_types(like.dtype, torch.float32)
        i = torch.arange(self.width // 2, dtype=dtype, device=like.device)
        p = torch.arange(start, stop, dtype=dtype, device=like.device)
        angle = torch.outer(p, torch.pow(torch.full_like(i, 10000.0), -2 * i / self.width))
        return angle.cos(), angle.sin()

    def forward(self, x: Tensor, start: int) -> Tensor:  # (..., n, width)
        cos, sin = self.table(start, start + x.shape[-2], x)
        even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
        out = torch.empty(x.shape, dtype=cos.dtype, device=x.device)
        out = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
        return out.reshape(x.shape).to(x.dtype)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_rope: int) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads != 0")
        if d_rope % 2 == 1:
            raise ValueError("odd d_rope")
        d_head = d_model // n_heads
        self.n_heads = n_heads
        self.parts = [d_rope, d_head]
        self.scale = (d_head + d_rope) ** -0.5
        self.W_q = nn.Linear(d_model, n_heads * (d_head + d_rope), bias=False)
        self.W_dkv = nn.Linear(d_model, d_latent, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_uk = nn.Linear(d_latent, d_model, bias=False)
        self.W_uv = nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.rotary = Rotary(d_rope)

    def _extend(self, x: Tensor, cache: Optional[Cache]) -> Tuple[Tensor, Tensor, int]:
        old = 0 if cache is None else cache[0].size(1)
        latents, keys = self.W_dkv(x), self.rotary(self.W_kr(x), old)
        if cache is not None:
            latents, keys = torch.cat([cache[0], latents], 1), torch.cat([cache[1], keys], 1)
        return latents, keys, old

    def forward(self, x: Tensor, cache: Optional[Cache] = None) -> Tuple[Tensor, Cache]:
        latents, keys, old = self._extend(x, cache)
        q = self.W_q(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        rope, content = q.split(self.parts, dim=-1)  # wrong
        rope = self.rotary(rope, old)
        w_uk = self.W_uk.weight.unflatten(0, (self.n_heads, -1))  # (H, d_head, L)
        w_uv = self.W_uv.weight.unflatten(0, (self.n_heads, -1))
        scores = (content @ w_uk) @ latents.mT.unsqueeze(1) + rope @ keys.mT.unsqueeze(1)
        scores = scores * self.scale
        total = latents.size(1)
        rows = torch.arange(old, total, device=x.device)[:, None]
        future = torch.arange(total, device=x.device) > rows
        weights = torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
        context = (weights @ latents.unsqueeze(1)) @ w_uv.mT
        return self.W_o(context.transpose(1, 2).flatten(2)), (latents, keys)
