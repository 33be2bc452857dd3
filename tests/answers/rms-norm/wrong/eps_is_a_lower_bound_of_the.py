# family: core
# mistake: eps-as-a-floor
# Eps is a lower bound of the mean square instead of being added to it.
import torch
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    # half precision overflows when squared, so go up to float32; float64 stays
    h = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    mean_square = h.pow(2).mean(dim=-1, keepdim=True)
    h = h * torch.rsqrt(mean_square.clamp(min=eps))  # wrong
    return (h * weight.to(h.dtype)).to(x.dtype)
