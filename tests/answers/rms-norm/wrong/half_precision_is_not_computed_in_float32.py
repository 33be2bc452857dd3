# family: dtype
# mistake: squares-in-half
# Half precision is not computed in float32, so the squares overflow or vanish.
import torch
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    ms = (x * x).mean(-1, keepdim=True) + eps  # wrong
    return (x * torch.rsqrt(ms.masked_fill(ms == 0, 1)) * weight).to(x.dtype)
