# family: dtype
# mistake: none
# Sums of 128 tokens are rounded to half precision before they are added.
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    X, W, G = x.to(wide), weight.to(wide), d_output.to(wide)
    d = X.shape[-1]
    c = X - X.mean(-1, keepdim=True)
    rstd = ((c * c).mean(-1, keepdim=True) + eps) ** -0.5
    xhat = c * rstd
    g = G * W
    dx = rstd * (g - g.mean(-1, keepdim=True) - xhat * (g * xhat).mean(-1, keepdim=True))
    def total(t):
        return sum(b.sum(0).to(x.dtype) for b in t.reshape(-1, d).split(128))  # wrong

    dw, db = total(G * xhat), total(G)
    return tuple(t.to(x.dtype) for t in (dx, dw, db))
