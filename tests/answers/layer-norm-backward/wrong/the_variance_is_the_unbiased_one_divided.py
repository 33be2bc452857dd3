# family: core
# mistake: unbiased-variance
# The variance is the unbiased one (divided by d - 1).
import torch
from torch import Tensor


def layer_norm_backward(x: Tensor, weight: Tensor, d_output: Tensor, eps: float = 1e-5):
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    xf, wf, gf = x.to(wide), weight.to(wide), d_output.to(wide)

    shifted = xf - xf[..., 0:1]
    mu = shifted.mean(dim=-1, keepdim=True)
    var = shifted.var(dim=-1, keepdim=True)  # wrong
    std = torch.sqrt(var + eps)
    x_hat = (shifted - mu) / std

    lead = tuple(range(x.dim() - 1))
    d_weight = (gf * x_hat).sum(dim=lead) if lead else gf * x_hat
    d_bias = gf.sum(dim=lead) if lead else gf * 1.0

    d_xhat = gf * wf
    direct = d_xhat
    through_mean = d_xhat.mean(dim=-1, keepdim=True)
    through_var = x_hat * (d_xhat * x_hat).mean(dim=-1, keepdim=True)
    dx = (direct - through_mean - through_var) / std
    return dx.to(x.dtype), d_weight.to(x.dtype), d_bias.to(x.dtype)
