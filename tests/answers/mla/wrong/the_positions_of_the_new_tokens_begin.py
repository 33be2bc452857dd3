# family: core
# mistake: positions-begin-anew
# The positions of the new tokens begin at 0 although there are tokens in the cache.
import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


def rotate(x: Tensor, positions: Tensor) -> Tensor:
    """x (..., n, d), positions (n,): turn neighbours (2i, 2i + 1)."""
    d = x.shape[-1]
    inv_freq = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d)
    angle = positions.to(torch.float64)[:, None] * inv_freq
    work = torch.float64 if x.dtype == torch.float64 else torch.float32
    cos, sin = angle.cos().to(work), angle.sin().to(work)
    even, odd = x[..., 0::2].to(work), x[..., 1::2].to(work)
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2).to(x.dtype)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_rope: int) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError("n_heads must divide d_model")
        if d_rope % 2 != 0:
            raise ValueError("d_rope must be even")
        self.n_heads, self.d_head, self.d_latent, self.d_rope = n_heads, d_model // n_heads, d_latent, d_rope
        self.W_q = nn.Linear(d_model, n_heads * (self.d_head + d_rope), bias=False)
        self.W_dkv = nn.Linear(d_model, d_latent, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_uk = nn.Linear(d_latent, d_model, bias=False)
        self.W_uv = nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        B, n, _ = x.shape
        positions = torch.arange(n, device=x.device)  # wrong

        q = self.W_q(x).reshape(B, n, self.n_heads, self.d_head + self.d_rope).transpose(1, 2)
        q_content, q_rope = q.split([self.d_head, self.d_rope], dim=-1)
        q_rope = rotate(q_rope, positions)

        latents = self.W_dkv(x)
        rotary_keys = rotate(self.W_kr(x), positions)
        if cache is not None:
            latents = torch.cat((cache[0], latents), dim=1)
            rotary_keys = torch.cat((cache[1], rotary_keys), dim=1)
        T = latents.shape[1]

        # fold W_uk into the queries: they are compared with the latents themselves
        W_uk = self.W_uk.weight.reshape(self.n_heads, self.d_head, self.d_latent)
        W_uv = self.W_uv.weight.reshape(self.n_heads, self.d_head, self.d_latent)
        q_latent = q_content @ W_uk
        scores = q_latent @ latents[:, None].transpose(-2, -1) + q_rope @ rotary_keys[:, None].transpose(-2, -1)
        scores = scores / math.sqrt(self.d_head + self.d_rope)

        causal = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(T - n)
        weights = scores.masked_fill(~causal, float("-inf")).softmax(dim=-1)

        context = (weights @ latents[:, None]) @ W_uv.transpose(-2, -1)
        output = self.W_o(context.transpose(1, 2).reshape(B, n, -1))
        return output, (latents, rotary_keys)
