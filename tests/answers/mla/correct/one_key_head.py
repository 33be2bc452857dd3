import torch
from torch import nn


def rope(x, positions):
    half = x.shape[-1] // 2
    freq = 10000.0 ** (-torch.arange(half, dtype=torch.float64, device=x.device) / half)
    angle = positions.double()[:, None] * freq
    cos, sin = torch.cos(angle).to(x.dtype), torch.sin(angle).to(x.dtype)
    a, b = x.unflatten(-1, (half, 2)).unbind(-1)
    return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)


class MultiHeadLatentAttention(nn.Module):
    """Multi-query attention: one key head [latent; rotary key], whose values are the latents."""

    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if d_model % n_heads or d_rope % 2:
            raise ValueError("widths do not fit")
        self.h, self.dh, self.dr = n_heads, d_model // n_heads, d_rope
        self.W_q = nn.Linear(d_model, n_heads * (self.dh + d_rope), bias=False)
        self.W_dkv = nn.Linear(d_model, d_latent, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_uk = nn.Linear(d_latent, d_model, bias=False)
        self.W_uv = nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        b, n, _ = x.shape
        c, r = self.W_dkv(x), self.W_kr(x)
        past = cache[0].shape[1] if cache is not None else 0
        pos = torch.arange(past, past + n, device=x.device)
        r = rope(r, pos)
        if cache is not None:
            c, r = torch.cat((cache[0], c), 1), torch.cat((cache[1], r), 1)
        q = self.W_q(x).view(b, n, self.h, self.dh + self.dr)
        q_r = rope(q[..., self.dh :].transpose(1, 2), pos)
        q_c = torch.einsum("bnhd,hdl->bhnl", q[..., : self.dh], self.W_uk.weight.view(self.h, self.dh, -1))
        key = torch.cat((c, r), -1)[:, None]
        scores = torch.cat((q_c, q_r), -1) @ key.mT * (self.dh + self.dr) ** -0.5
        hidden = torch.arange(past + n, device=x.device) > pos[:, None]
        p = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        out = torch.einsum("bhnl,hdl->bnhd", p @ c[:, None], self.W_uv.weight.view(self.h, self.dh, -1))
        return self.W_o(out.reshape(b, n, -1)), (c, r)
