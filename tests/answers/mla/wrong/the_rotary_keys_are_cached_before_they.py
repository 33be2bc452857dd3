# family: core
# mistake: none
# The rotary keys are cached before they are turned, and all of them are turned in each call.
from typing import NamedTuple

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


class Rotation(NamedTuple):
    cos: Tensor
    sin: Tensor

    @classmethod
    def of(cls, positions: Tensor, width: int, dtype: torch.dtype) -> "Rotation":
        pair = torch.arange(width // 2, dtype=torch.float64, device=positions.device)
        angle = positions.double().unsqueeze(1) / 10000.0 ** (2 * pair / width)
        precision = torch.float64 if dtype == torch.float64 else torch.float32
        return cls(angle.cos().to(precision), angle.sin().to(precision))

    def last(self, n: int) -> "Rotation":
        return Rotation(self.cos[self.cos.shape[0] - n :], self.sin[self.sin.shape[0] - n :])

    def apply(self, x: Tensor) -> Tensor:
        first, second = x[..., ::2].to(self.cos.dtype), x[..., 1::2].to(self.cos.dtype)
        turned = torch.empty(x.shape, dtype=self.cos.dtype, device=x.device)
        turned[..., ::2] = first * self.cos - second * self.sin
        turned[..., 1::2] = first * self.sin + second * self.cos
        return turned.to(x.dtype)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_rope: int) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"{d_model} features cannot be shared by {n_heads} heads")
        if d_rope % 2 != 0:
            raise ValueError(f"d_rope={d_rope} is odd")
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
        B, n, d_model = x.shape
        new_latents = self.W_dkv(x)
        new_keys = self.W_kr(x)
        if cache is None:
            latents, raw_keys = new_latents, new_keys
        else:
            latents = torch.cat([cache[0], new_latents], dim=1)
            raw_keys = torch.cat([cache[1], new_keys], dim=1)  # wrong
        T = latents.shape[1]
        rotation = Rotation.of(torch.arange(T, device=x.device), self.d_rope, x.dtype)
        rotary_keys = rotation.apply(raw_keys)

        q = self.W_q(x).reshape(B, n, self.n_heads, self.d_head + self.d_rope).permute(0, 2, 1, 3)
        content, rotary = q[..., : self.d_head], q[..., self.d_head :]
        rotary = rotation.last(n).apply(rotary)

        up_keys = self.W_uk.weight.reshape(self.n_heads, self.d_head, -1)
        up_values = self.W_uv.weight.reshape(self.n_heads, self.d_head, -1)
        content_scores = torch.matmul(torch.matmul(content, up_keys), latents.unsqueeze(1).mT)
        rotary_scores = torch.matmul(rotary, rotary_keys.unsqueeze(1).mT)
        scores = (content_scores + rotary_scores) / (self.d_head + self.d_rope) ** 0.5

        future = torch.ones(n, T, dtype=torch.bool, device=x.device).triu(T - n + 1)
        weights = torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
        context = torch.matmul(torch.matmul(weights, latents.unsqueeze(1)), up_values.mT)
        return self.W_o(context.permute(0, 2, 1, 3).reshape(B, n, d_model)), (latents, raw_keys)
