# family: core
# mistake: eps-ignored-finfo
import torch


def rms_norm(x, weight, eps=1e-6):
    w = x.to(torch.promote_types(x.dtype, torch.float32))
    scale = torch.rsqrt(w.pow(2).mean(-1, keepdim=True) + torch.finfo(w.dtype).eps)
    return (w * scale * weight).to(x.dtype)
