# family: core
# mistake: scale-of-the-content-alone
# The scores are divided by sqrt(d_head), the rotary width is forgotten.
import torch
from torch import Tensor, einsum, nn

Cache = tuple[Tensor, Tensor]


def angles(start: int, n: int, d: int, like: Tensor) -> Tensor:
    p = torch.arange(start, start + n, device=like.device, dtype=torch.float64)
    w = 10000.0 ** -(torch.arange(d // 2, device=like.device, dtype=torch.float64) * 2 / d)
    a = torch.outer(p, w)
    return a if like.dtype == torch.float64 else a.float()


def turn(x: Tensor, a: Tensor) -> Tensor:
    u, v = x.to(a.dtype).unflatten(-1, (-1, 2)).unbind(-1)
    c, s = a.cos(), a.sin()
    return torch.stack([u * c - v * s, u * s + v * c], -1).flatten(-2).to(x.dtype)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, d_latent: int, d_rope: int) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError("heads")
        if d_rope % 2:
            raise ValueError("d_rope is odd")
        self.h, self.dh, self.dr = n_heads, d_model // n_heads, d_rope
        self.W_q = nn.Linear(d_model, n_heads * (self.dh + d_rope), bias=False)
        self.W_dkv = nn.Linear(d_model, d_latent, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_uk = nn.Linear(d_latent, d_model, bias=False)
        self.W_uv = nn.Linear(d_latent, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        n, old = x.shape[1], 0 if cache is None else cache[0].shape[1]
        a = angles(old, n, self.dr, x)
        q = self.W_q(x).unflatten(-1, (self.h, self.dh + self.dr)).transpose(1, 2)
        qc, qr = q[..., : self.dh], turn(q[..., self.dh :], a)
        c, r = self.W_dkv(x), turn(self.W_kr(x), a)
        if cache is not None:
            c, r = torch.cat([cache[0], c], 1), torch.cat([cache[1], r], 1)
        uk, uv = (w.weight.unflatten(0, (self.h, self.dh)) for w in (self.W_uk, self.W_uv))
        ql = einsum("bhnd,hdl->bhnl", qc, uk)
        s = einsum("bhnl,btl->bhnt", ql, c) + einsum("bhnr,btr->bhnt", qr, r)
        s = s / self.dh**0.5  # wrong
        t = torch.arange(old + n, device=x.device)
        s = s.masked_fill(t > t[old:, None], -torch.inf)
        z = einsum("bhnt,btl->bhnl", s.softmax(-1), c)
        y = einsum("bhnl,hdl->bnhd", z, uv).flatten(-2)
        return self.W_o(y), (c, r)
