# family: core
# mistake: eps-as-a-floor-of-the-norm
import torch
import torch.nn.functional as F


def rms_norm(x, weight, eps=1e-6):
    wide = x if x.dtype == torch.float64 else x.float()
    return (F.normalize(wide, dim=-1, eps=eps) * x.shape[-1] ** 0.5 * weight).to(x.dtype)
