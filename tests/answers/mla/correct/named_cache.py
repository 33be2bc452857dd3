from typing import NamedTuple

import torch
from torch import Tensor, nn


class LatentCache(NamedTuple):
    latents: Tensor
    rotary_keys: Tensor

    @property
    def length(self):
        return self.latents.shape[-2]

    def followed_by(self, other):
        return LatentCache(*(torch.cat(pair, dim=-2) for pair in zip(self, other)))


class Rotary(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, x, first):
        steps = torch.arange(x.shape[-2], device=x.device) + first
        powers = torch.arange(self.width // 2, device=x.device).double() * 2 / self.width
        exact = torch.promote_types(x.dtype, torch.float32)
        angles = (steps.double()[:, None] * torch.pow(10000.0, -powers)).to(exact)
        rotation = torch.stack([angles.cos(), -angles.sin(), angles.sin(), angles.cos()], -1).unflatten(-1, (2, 2))
        pairs = x.to(exact).unflatten(-1, (-1, 2, 1))
        return (rotation * pairs.transpose(-1, -2)).sum(-1).flatten(-2).to(x.dtype)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        if d_model % n_heads:
            raise ValueError("heads")
        if d_rope & 1:
            raise ValueError("pairs")
        super().__init__()
        self.heads, self.width, self.content = n_heads, d_model // n_heads + d_rope, d_model // n_heads
        no = {"bias": False}
        self.W_q = nn.Linear(d_model, n_heads * self.width, **no)
        self.W_dkv, self.W_kr = nn.Linear(d_model, d_latent, **no), nn.Linear(d_model, d_rope, **no)
        self.W_uk, self.W_uv = nn.Linear(d_latent, d_model, **no), nn.Linear(d_latent, d_model, **no)
        self.W_o = nn.Linear(d_model, d_model, **no)
        self.rotary = Rotary(d_rope)

    def forward(self, x, cache=None):
        here = LatentCache(*cache).length if cache is not None else 0
        fresh = LatentCache(self.W_dkv(x), self.rotary(self.W_kr(x), here))
        known = fresh if cache is None else LatentCache(*cache).followed_by(fresh)
        queries = self.W_q(x).unflatten(-1, (self.heads, self.width)).movedim(-2, 1)
        turned = self.rotary(queries[..., self.content :], here)
        up, out = (layer.weight.reshape(self.heads, self.content, -1) for layer in (self.W_uk, self.W_uv))
        scores = torch.einsum("bhnd,hdl,btl->bhnt", queries[..., : self.content], up, known.latents)
        scores = (scores + torch.einsum("bhnr,btr->bhnt", turned, known.rotary_keys)) / self.width**0.5
        n, total = scores.shape[-2:]
        causal = torch.full((n, total), float("-inf"), dtype=scores.dtype, device=x.device).triu(total - n + 1)
        weights = torch.softmax(scores + causal, -1)
        heads = torch.einsum("bhnl,hdl->bnhd", torch.einsum("bhnt,btl->bhnl", weights, known.latents), out)
        return self.W_o(heads.flatten(2)), known
