# family: contract
# mistake: calls-torch-rms-norm
import torch
from torch import nn


def rms_norm(x, weight, eps=1e-6):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    norm = nn.RMSNorm(x.shape[-1], eps=eps, elementwise_affine=False)
    return (norm(wide) * weight).to(x.dtype)
