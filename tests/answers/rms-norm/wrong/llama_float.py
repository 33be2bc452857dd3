# family: dtype
# mistake: float64-narrowed
import torch


def rms_norm(x, weight, eps=1e-6):
    out = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + eps)
    return out.type_as(x) * weight
