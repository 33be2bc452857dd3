"""Multi-head latent attention: a cache of one short vector and one rotary key for each token.

    c_t = W_dkv x_t        k_t^h = [W_uk^h c_t ; R_t W_kr x_t]        v_t^h = W_uv^h c_t        q_t^h = [q ; R_t q']
    output_t = W_o concat_h( sum over s <= t of softmax_s(q_t^h · k_s^h / sqrt(d_head + d_rope)) v_s^h )

Keys and values are linear in the latents, so neither has to be made: q · (W_uk c) = (W_ukᵀ q) · c, and the weighted sum
of W_uv c is W_uv of the weighted sum. The rotary part stands apart, since a turn between W_uk and c would forbid that.
DeepSeek-AI 2024, "DeepSeek-V2" (arXiv:2405.04434), section 2.1, here without low-rank queries and norms.
"""

import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


def turned(x: Tensor, start: int) -> Tensor:
    """Turn pairs (2i, 2i + 1) of x (..., n, d_rope) by the angles of the positions start, start + 1, ..."""
    length, width = x.shape[-2:]
    positions = torch.arange(start, start + length, dtype=torch.float64, device=x.device)  # (n,)
    exponents = torch.arange(0, width, 2, dtype=torch.float64, device=x.device) / width  # (d_rope // 2,)
    angles = positions.unsqueeze(1) / 10000.0**exponents  # (n, d_rope // 2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]  # (..., n, d_rope // 2)
    pairs = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)  # (..., n, d_rope // 2, 2)
    return pairs.flatten(-2)  # (..., n, d_rope)


class MultiHeadLatentAttention(nn.Module):
    """Causal self-attention whose keys and values are made of latents, which alone are cached.

    d_model   width of the tokens; d_head = d_model // n_heads, ValueError where n_heads does not divide it
    n_heads   number of heads
    d_latent  width of the latents
    d_rope    width of the rotary part of queries and keys; ValueError where it is odd

    Attributes, each an nn.Linear without bias: W_q, d_model to n_heads * (d_head + d_rope), in each head the rotary
    part comes last; W_dkv, d_model to d_latent; W_kr, d_model to d_rope; W_uk and W_uv, d_latent to d_model; W_o,
    d_model to d_model.
    """

    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_rope: int) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model {d_model} is not divisible by n_heads {n_heads}")
        if d_rope % 2 != 0:
            raise ValueError(f"d_rope {d_rope} is odd")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.d_rope = d_rope
        self.W_q = nn.Linear(d_model, n_heads * (self.d_head + d_rope), bias=False)
        self.W_dkv = nn.Linear(d_model, d_latent, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_uk = nn.Linear(d_latent, d_model, bias=False)
        self.W_uv = nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Attend from the new tokens to all tokens up to and including themselves.

        x      (B, n, d_model), the new tokens: the last n of T
        cache  (latents (B, T - n, d_latent), rotary keys (B, T - n, d_rope)) of the tokens before; T - n may be 0;
               None = there are none

        Returns the output (B, n, d_model) and the cache of all T tokens.
        """
        past = 0 if cache is None else cache[0].size(1)
        queries = self.W_q(x).unflatten(2, (self.n_heads, -1)).transpose(1, 2)  # (B, H, n, d_head + d_rope)
        content, rotary = queries.split([self.d_head, self.d_rope], dim=-1)  # (B, H, n, d_head), (B, H, n, d_rope)
        rotary = turned(rotary, past)
        latents = self.W_dkv(x)  # (B, n, d_latent)
        keys = turned(self.W_kr(x), past)  # (B, n, d_rope)
        if cache is not None:
            latents = torch.cat([cache[0], latents], dim=1)  # (B, T, d_latent)
            keys = torch.cat([cache[1], keys], dim=1)  # (B, T, d_rope)

        # Queries go to the latents, not latents to the queries: nothing is made for each old token and head.
        up_keys = self.W_uk.weight.unflatten(0, (self.n_heads, -1))  # (H, d_head, d_latent)
        content = content @ up_keys  # (B, H, n, d_latent)
        seen = latents.unsqueeze(1)  # (B, 1, T, d_latent)
        scores = content @ seen.transpose(-2, -1)  # (B, H, n, T)
        scores = scores + rotary @ keys.unsqueeze(1).transpose(-2, -1)
        scores = scores / math.sqrt(self.d_head + self.d_rope)

        # The queries are the last n of T positions: query i sees keys 0 to T - n + i.
        new, total = x.size(1), latents.size(1)
        visible = torch.ones(new, total, dtype=torch.bool, device=x.device).tril(diagonal=total - new)  # (n, T)
        weights = torch.softmax(scores.masked_fill(~visible, float("-inf")), dim=-1)  # (B, H, n, T)

        mixed = weights @ seen  # (B, H, n, d_latent)
        up_values = self.W_uv.weight.unflatten(0, (self.n_heads, -1))  # (H, d_head, d_latent)
        context = mixed @ up_values.transpose(-2, -1)  # (B, H, n, d_head)
        context = context.transpose(1, 2).flatten(2)  # (B, n, d_model)
        return self.W_o(context), (latents, keys)
