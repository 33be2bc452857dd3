# family: core
# mistake: none
# The rotary keys of the cache, which are turned already, are turned once more in each call.
import math

import torch
from torch import Tensor, nn


def turn(x: Tensor, first: int) -> Tensor:
    """x (B, n, ..., d), rows at positions first, first + 1, ..."""
    n, d = x.shape[1], x.shape[-1]
    kind = torch.float64 if x.dtype == torch.float64 else torch.float32
    pos = torch.arange(first, first + n, device=x.device, dtype=kind)
    freq = 10000.0 ** (-torch.arange(0, d, 2, device=x.device, dtype=kind) / d)
    angle = (pos[:, None] * freq).view(n, *[1] * (x.dim() - 3), d // 2)
    a, b = x[..., 0::2], x[..., 1::2]
    y = torch.stack((a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()), -1)
    return y.flatten(-2).to(x.dtype)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_rope: int) -> None:
        super().__init__()
        if d_model % n_heads:
            raise ValueError("n_heads must divide d_model")
        if d_rope % 2:
            raise ValueError("d_rope must be even")
        self.n_heads, self.d_head, self.d_latent, self.d_rope = n_heads, d_model // n_heads, d_latent, d_rope
        self.W_q = nn.Linear(d_model, n_heads * (self.d_head + d_rope), bias=False)
        self.W_dkv = nn.Linear(d_model, d_latent, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_uk = nn.Linear(d_latent, d_model, bias=False)
        self.W_uv = nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, n, _ = x.shape
        c, r = self.W_dkv(x), self.W_kr(x)
        past = 0
        if cache is not None:
            past = cache[0].shape[1]
            c = torch.cat((cache[0], c), 1)
            r = torch.cat((cache[1], r), 1)
        r = turn(r, 0)  # wrong
        T = past + n

        q = self.W_q(x).view(B, n, self.n_heads, self.d_head + self.d_rope)
        q_content, q_rope = q[..., : self.d_head], turn(q[..., self.d_head :], past)
        up_k = self.W_uk.weight.view(self.n_heads, self.d_head, self.d_latent)
        up_v = self.W_uv.weight.view(self.n_heads, self.d_head, self.d_latent)
        q_latent = torch.einsum("bnhd,hdl->bhnl", q_content, up_k)
        scores = torch.einsum("bhnl,bml->bhnm", q_latent, c) + torch.einsum("bnhr,bmr->bhnm", q_rope, r)
        scores = scores / math.sqrt(self.d_head + self.d_rope)
        keep = torch.ones(n, T, dtype=torch.bool, device=x.device).tril(past)
        weights = scores.masked_fill(~keep, float("-inf")).softmax(-1)
        context = torch.einsum("bhnm,bml->bhnl", weights, c)
        context = torch.einsum("bhnl,hdl->bnhd", context, up_v)
        return self.W_o(context.reshape(B, n, -1)), (c, r)
