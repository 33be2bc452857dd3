import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope, bias=False):
        super().__init__()
        if d_model % n_heads != 0 or d_rope % 2 != 0:
            raise ValueError(f"{d_model=} {n_heads=} {d_rope=}")
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.d_rope = d_rope
        sizes = {
            "W_q": (d_model, n_heads * (self.d_head + d_rope)),
            "W_dkv": (d_model, d_latent),
            "W_kr": (d_model, d_rope),
            "W_uk": (d_latent, d_model),
            "W_uv": (d_latent, d_model),
            "W_o": (d_model, d_model),
        }
        for name, size in sizes.items():
            self.add_module(name, nn.Linear(*size, bias=bias))

    @staticmethod
    def turn(x, turns):
        """Pairs as complex numbers, times e^(i angle)."""
        wide = x.double() if x.dtype == torch.float64 else x.float()
        z = torch.view_as_complex(wide.reshape(*x.shape[:-1], -1, 2).contiguous())
        return torch.view_as_real(z * turns.to(z.dtype)).flatten(-2).to(x.dtype)

    def forward(self, x, cache=None):
        B, n, _ = x.shape
        H, dh, dr = self.n_heads, self.d_head, self.d_rope
        old = 0 if cache is None else cache[1].shape[1]
        theta = 10000 ** -(torch.arange(0, dr, 2, device=x.device).double() / dr)
        angles = torch.arange(old, old + n, device=x.device).double()[:, None] * theta
        turns = torch.polar(torch.ones_like(angles), angles)

        q = self.W_q(x).reshape(B, n, H, dh + dr).permute(0, 2, 1, 3)
        qc, qr = q[..., :dh], self.turn(q[..., dh:], turns)
        c, kr = self.W_dkv(x), self.turn(self.W_kr(x), turns)
        if cache is not None:
            c, kr = (torch.cat(both, dim=1) for both in zip(cache, (c, kr)))

        outs = []
        for h in range(H):  # one head after the other
            rows = slice(h * dh, (h + 1) * dh)
            ql = F.linear(qc[:, h], self.W_uk.weight[rows].t())
            s = torch.bmm(ql, c.transpose(1, 2)) + torch.bmm(qr[:, h], kr.transpose(1, 2))
            s = s / (dh + dr) ** 0.5
            keep = torch.arange(c.shape[1], device=x.device)[None, :] <= torch.arange(old, old + n, device=x.device)[:, None]
            p = torch.softmax(torch.where(keep, s, float("-inf")), dim=-1)
            outs.append(F.linear(torch.bmm(p, c), self.W_uv.weight[rows]))
        return self.W_o(torch.cat(outs, dim=-1)), (c, kr)
