# family: core
# mistake: none
# The constructor checks d_head for being even, where d_rope is meant.
import torch
from torch import nn


def _spin(x, pos):
    # pairs of neighbours as complex numbers
    f = torch.float64 if x.dtype == torch.float64 else torch.float32
    d = x.shape[-1]
    ang = pos.to(f)[:, None] / 10000.0 ** (torch.arange(0, d, 2, dtype=f, device=x.device) / d)
    z = torch.view_as_complex(x.to(f).reshape(*x.shape[:-1], d // 2, 2).contiguous())
    return torch.view_as_real(z * torch.polar(torch.ones_like(ang), ang)).flatten(-2).to(x.dtype)


class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        d_head, rest = divmod(d_model, n_heads)
        if rest:
            raise ValueError("heads of equal width only")
        if d_head % 2 != 0:  # wrong
            raise ValueError("pairs of features are turned, so the width has to be even")
        self.H, self.dh, self.dr = n_heads, d_head, d_rope
        lin = lambda i, o: nn.Linear(i, o, bias=False)
        self.W_q = lin(d_model, n_heads * (d_head + d_rope))
        self.W_dkv, self.W_kr = lin(d_model, d_latent), lin(d_model, d_rope)
        self.W_uk, self.W_uv = lin(d_latent, d_model), lin(d_latent, d_model)
        self.W_o = lin(d_model, d_model)

    def forward(self, x, cache=None):
        B, n, _ = x.shape
        t0 = cache[0].shape[1] if cache is not None else 0
        pos = torch.arange(t0, t0 + n, device=x.device)
        c, r = self.W_dkv(x), _spin(self.W_kr(x), pos)
        if cache is not None:
            c, r = torch.cat([cache[0], c], dim=1), torch.cat([cache[1], r], dim=1)
        q = self.W_q(x).reshape(B, n, self.H, self.dh + self.dr).permute(0, 2, 1, 3)
        qr = _spin(q[..., self.dh:], pos)
        hide = torch.arange(t0 + n, device=x.device)[None, :] > pos[:, None]
        ctx = []
        for h in range(self.H):
            rows = slice(h * self.dh, (h + 1) * self.dh)
            ql = q[:, h, :, :self.dh] @ self.W_uk.weight[rows]
            s = (ql @ c.transpose(1, 2) + qr[:, h] @ r.transpose(1, 2)) / (self.dh + self.dr) ** 0.5
            w = s.masked_fill(hide, float("-inf")).softmax(dim=-1)
            ctx.append((w @ c) @ self.W_uv.weight[rows].t())
        return self.W_o(torch.cat(ctx, dim=-1)), (c, r)
