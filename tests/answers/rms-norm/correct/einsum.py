import torch
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    work = torch.promote_types(x.dtype, torch.float32)
    h, w = x.to(work), weight.to(work)
    power = torch.einsum("...d,...d->...", h, h) / h.shape[-1]
    return torch.einsum("...d,...,d->...d", h, (power + eps).rsqrt(), w).to(x.dtype)
