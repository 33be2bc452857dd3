"""Divide by the largest entry first, so that no square overflows in any dtype."""
import torch


def rms_norm(x, weight, eps=1e-6):
    wide = x.to(torch.promote_types(torch.float32, x.dtype))
    top = wide.detach().abs().amax(dim=-1, keepdim=True).clamp_min(1.0)
    small = wide / top
    rms = torch.sqrt((small * small).mean(dim=-1, keepdim=True) + eps / top / top)
    return ((small / rms) * weight.to(wide.dtype)).to(x.dtype)
