# family: core
# mistake: divided-by-the-deviation
# The variance is taken instead of the mean square, that is, the mean is subtracted first.
import torch
from torch import Tensor


class _RMS:
    def __init__(self, eps: float) -> None:
        self.eps = eps

    def __call__(self, x: Tensor) -> Tensor:
        mean_square = torch.var(x, dim=-1, keepdim=True, unbiased=False)  # wrong
        denominator = mean_square + self.eps
        denominator = denominator.masked_fill(denominator == 0, 1.0)
        return x / torch.sqrt(denominator)


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    input_dtype = x.dtype
    if input_dtype in (torch.float16, torch.bfloat16):
        x = x.float()
    normed = _RMS(eps)(x)
    return (weight.to(normed.dtype) * normed).to(input_dtype)
