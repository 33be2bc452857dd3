# family: device
# mistake: eps-on-the-cpu
import torch


def rms_norm(x, weight, eps=1e-6):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    d = torch.tensor([wide.shape[-1]])
    return (wide / torch.sqrt(wide.square().sum(-1, keepdim=True) / d + eps) * weight).to(x.dtype)
