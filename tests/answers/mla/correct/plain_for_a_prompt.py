import math

import torch
from torch import Tensor, nn


class MultiHeadLatentAttention(nn.Module):
    """Keys and values are made for a prompt; with a cache they are absorbed."""

    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_rope: int) -> None:
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("d_model % n_heads")
        if d_rope % 2 == 1:
            raise ValueError("d_rope is odd")
        self.n_heads, self.d_head, self.d_rope = n_heads, d_model // n_heads, d_rope
        self.W_q = nn.Linear(d_model, d_model + n_heads * d_rope, bias=False)
        self.W_dkv = nn.Linear(d_model, d_latent, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_uk = nn.Linear(d_latent, d_model, bias=False)
        self.W_uv = nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rotate(self, x: Tensor, start: int) -> Tensor:
        pos = torch.arange(start, start + x.size(-2), device=x.device, dtype=torch.float64)
        inv = 1.0 / 10000 ** (torch.arange(0, self.d_rope, 2, device=x.device, dtype=torch.float64) / self.d_rope)
        angles = torch.outer(pos, inv).repeat_interleave(2, dim=-1)
        swapped = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)
        return x * angles.cos().to(x.dtype) + swapped * angles.sin().to(x.dtype)

    def split(self, x: Tensor) -> Tensor:
        return x.view(x.size(0), x.size(1), self.n_heads, -1).transpose(1, 2)

    def attend(self, scores: Tensor) -> Tensor:
        n, total = scores.shape[-2:]
        future = torch.ones(n, total, dtype=torch.bool, device=scores.device).triu(total - n + 1)
        scores = scores / math.sqrt(self.d_head + self.d_rope)
        return scores.masked_fill(future, float("-inf")).softmax(dim=-1)

    def forward(self, x: Tensor, cache: tuple[Tensor, Tensor] | None = None):
        past = 0 if cache is None else cache[0].size(1)
        q = self.split(self.W_q(x))
        q_content, q_rope = q[..., : self.d_head], self.rotate(q[..., self.d_head :], past)
        latents, k_rope = self.W_dkv(x), self.rotate(self.W_kr(x), past)
        if cache is None:
            k = self.split(self.W_uk(latents))
            k = torch.cat([k, k_rope[:, None].expand(-1, self.n_heads, -1, -1)], dim=-1)
            q = torch.cat([q_content, q_rope], dim=-1)
            heads = self.attend(q @ k.transpose(2, 3)) @ self.split(self.W_uv(latents))
        else:
            latents = torch.cat([cache[0], latents], dim=1)
            k_rope = torch.cat([cache[1], k_rope], dim=1)
            w = self.W_uk.weight.view(self.n_heads, self.d_head, -1)
            scores = torch.matmul(torch.matmul(q_content, w), latents[:, None].transpose(2, 3))
            scores = scores + torch.matmul(q_rope, k_rope[:, None].transpose(2, 3))
            mixed = torch.matmul(self.attend(scores), latents[:, None])
            heads = torch.matmul(mixed, self.W_uv.weight.view(self.n_heads, self.d_head, -1).transpose(1, 2))
        return self.W_o(heads.transpose(1, 2).reshape(x.shape)), (latents, k_rope)
