import torch
from torch import Tensor, nn

BASE = 10_000.0


def angles(first: int, count: int, width: int, like: Tensor) -> tuple[Tensor, Tensor]:
    rows = [[(first + p) / BASE ** (2 * i / width) for i in range(width // 2)] for p in range(count)]
    table = torch.tensor(rows, dtype=torch.float64, device=like.device).reshape(count, width // 2)
    return table.cos().to(like.dtype), table.sin().to(like.dtype)


def turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    y = torch.empty_like(x)
    y[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    y[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
    return y


class MultiHeadLatentAttention(nn.Module):
    """Heads and new tokens in one axis: all of them look at the same latents."""

    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        self.d_head, rest = divmod(d_model, n_heads)
        if rest or d_rope % 2:
            raise ValueError("sizes that do not go together")
        self.H, self.L, self.R = n_heads, d_latent, d_rope
        self.W_q = nn.Linear(d_model, n_heads * (self.d_head + d_rope), bias=False)
        self.W_dkv, self.W_kr = nn.Linear(d_model, d_latent, bias=False), nn.Linear(d_model, d_rope, bias=False)
        self.W_uk, self.W_uv = nn.Linear(d_latent, d_model, bias=False), nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, n, _ = x.shape
        latents, keys, first = self.W_dkv(x), self.W_kr(x), 0
        if cache is not None:
            first = cache[0].size(1)
        cos, sin = angles(first, n, self.R, x)
        keys = turn(keys, cos, sin)
        if first:
            latents, keys = torch.cat([cache[0], latents], 1), torch.cat([cache[1], keys], 1)
        q = self.W_q(x).view(B, n, self.H, self.d_head + self.R).permute(0, 2, 1, 3)
        rotary = turn(q[..., self.d_head :].contiguous(), cos, sin).reshape(B, self.H * n, self.R)
        content = (q[..., : self.d_head] @ self.W_uk.weight.view(self.H, self.d_head, self.L)).reshape(B, -1, self.L)
        scores = torch.baddbmm(torch.bmm(rotary, keys.transpose(1, 2)), content, latents.transpose(1, 2))
        scores = scores.view(B, self.H, n, -1) / (self.d_head + self.R) ** 0.5
        ahead = torch.ones_like(scores[0, 0], dtype=torch.bool).triu(first + 1)
        weights = torch.softmax(scores.masked_fill(ahead, float("-inf")), -1)
        mixed = torch.bmm(weights.view(B, self.H * n, -1), latents).view(B, self.H, n, self.L)
        context = mixed @ self.W_uv.weight.view(self.H, self.d_head, self.L).mT
        return self.W_o(context.permute(0, 2, 1, 3).reshape(B, n, -1)), (latents, keys)
