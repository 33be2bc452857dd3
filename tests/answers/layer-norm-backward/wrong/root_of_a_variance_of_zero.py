# family: grad
# mistake: none
# The root of the variance itself has no derivative at 0: where all features are equal a second gradient is NaN.
import torch


def layer_norm_backward(x, weight, d_output, eps=1e-5):
    kind = x.dtype
    up = torch.promote_types(kind, torch.float32)
    x, weight, d_output = x.to(up), weight.to(up), d_output.to(up)
    dev = x - x.mean(-1, keepdim=True)
    std = dev.square().mean(-1, keepdim=True).sqrt()  # wrong
    scale = torch.hypot(std, torch.full_like(std, eps**0.5))
    hat = dev / scale
    g = d_output * weight
    dx = (g - g.mean(-1, keepdim=True) - hat * (g * hat).mean(-1, keepdim=True)) / scale
    d = x.size(-1)
    d_weight = (d_output * hat).reshape(-1, d).sum(0)
    return dx.to(kind), d_weight.to(kind), d_output.reshape(-1, d).sum(0).to(kind)
