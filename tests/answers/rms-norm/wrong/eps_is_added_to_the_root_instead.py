# family: core
# mistake: eps-outside-the-root
# Eps is added to the root instead of the mean square.
import torch
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    work = torch.float64 if x.dtype == torch.float64 else torch.float32
    features = x.to(work)
    mean_square = features.square().mean(dim=-1, keepdim=True)
    zero = mean_square == 0
    root = mean_square.masked_fill(zero, 1.0).sqrt().masked_fill(zero, 0.0)
    result = features / (root + eps) * weight.to(work)  # wrong
    return result.to(x.dtype)
