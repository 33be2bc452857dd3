# family: core
# mistake: eps-ignored-small
import torch


def rms_norm(x, weight, eps=1e-6):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    rms = torch.sqrt(wide.square().mean(-1, keepdim=True) + 1e-8)
    return (wide / rms * weight).to(x.dtype)
