# family: core
# mistake: eps-outside-the-root
import torch


def rms_norm(x, weight, eps=1e-6):
    wide = x if x.dtype == torch.float64 else x.float()
    norm = wide.norm(2, dim=-1, keepdim=True)
    rms = norm * wide.size(-1) ** (-1.0 / 2)
    return (weight * (wide / (rms + eps))).to(x.dtype)
