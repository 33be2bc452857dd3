# family: core
# mistake: no-term-of-the-variance
# The term through the variance is missing from dx.
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    dtype = x.dtype
    acc = torch.promote_types(dtype, torch.float32)
    x, weight, dy = x.to(acc), weight.to(acc), d_output.to(acc)
    d = x.shape[-1]
    xc = x - x[..., :1]
    xc = xc - xc.mean(-1, keepdim=True)
    rstd = torch.rsqrt(xc.pow(2).mean(-1, keepdim=True) + eps)
    xhat = xc * rstd
    g = dy * weight
    dx = rstd * (g - g.mean(-1, keepdim=True))  # wrong
    dw = (dy * xhat).reshape(-1, d).sum(0)
    db = dy.reshape(-1, d).sum(0)
    return dx.to(dtype), dw.to(dtype), db.to(dtype)
