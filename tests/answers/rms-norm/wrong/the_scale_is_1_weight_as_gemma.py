# family: core
# mistake: one-plus-weight
# The scale is 1 + weight, as Gemma stores it, instead of weight.
import torch


def _up(dtype):
    return torch.promote_types(dtype, torch.float32)


def rms_norm(x, weight, eps=1e-6):
    y = x.to(_up(x.dtype))
    y = y / torch.sqrt(torch.einsum("...d,...d->...", y, y).unsqueeze(-1) / y.shape[-1] + eps)
    return torch.mul(y, 1 + weight.to(y.dtype)).to(x.dtype)  # wrong
