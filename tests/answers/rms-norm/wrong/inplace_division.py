# family: contract
# mistake: divided-in-place
import torch


def rms_norm(x, weight, eps=1e-6):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)
    out = (wide * scale * weight).to(x.dtype)
    with torch.no_grad():
        x.mul_(scale)
    return out
