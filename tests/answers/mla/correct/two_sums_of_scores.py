import torch
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    """Scores of content and of positions, each rounded, are added, then divided: half precision all the way."""

    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if d_model % n_heads or d_rope % 2:
            raise ValueError("widths do not fit")
        self.H, self.d, self.R, self.L = n_heads, d_model // n_heads, d_rope, d_latent
        self.W_q = nn.Linear(d_model, n_heads * (self.d + d_rope), bias=False)
        self.W_dkv = nn.Linear(d_model, d_latent, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_uk = nn.Linear(d_latent, d_model, bias=False)
        self.W_uv = nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def turn(self, x, first):
        wide = torch.float64 if x.dtype == torch.float64 else torch.float32
        i = torch.arange(0, self.R, 2, device=x.device, dtype=wide)
        p = torch.arange(first, first + x.shape[-2], device=x.device, dtype=wide)
        angle = p[:, None] / 10000.0 ** (i / self.R)
        c, s = angle.cos(), angle.sin()
        a, b = x[..., 0::2].to(wide), x[..., 1::2].to(wide)
        return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2).to(x.dtype)

    def forward(self, x, cache=None):
        B, n, _ = x.shape
        latents, keys = self.W_dkv(x), self.W_kr(x)
        old = 0 if cache is None else cache[0].shape[1]
        keys = self.turn(keys, old)
        if cache is not None:
            latents = torch.cat((cache[0], latents), dim=1)
            keys = torch.cat((cache[1], keys), dim=1)
        q = self.W_q(x).view(B, n, self.H, self.d + self.R).transpose(1, 2)
        content, rotary = q.split((self.d, self.R), dim=-1)
        scores = content @ self.W_uk.weight.view(self.H, self.d, self.L) @ latents.unsqueeze(1).mT
        scores = (scores + self.turn(rotary, old) @ keys.unsqueeze(1).mT) / (self.d + self.R) ** 0.5
        later = torch.ones(n, old + n, dtype=torch.bool, device=x.device).triu(old + 1)
        weights = scores.masked_fill(later, float("-inf")).softmax(-1)
        context = (weights @ latents.unsqueeze(1)) @ self.W_uv.weight.view(self.H, self.d, self.L).mT
        return self.W_o(context.transpose(1, 2).reshape(B, n, -1)), (latents, keys)
