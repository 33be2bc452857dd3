# family: grad
# mistake: size-detached
import torch


@torch.no_grad()
def inverse_rms(x, eps):
    return torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)


def rms_norm(x, weight, eps=1e-6):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (wide * inverse_rms(wide, eps) * weight).to(x.dtype)
