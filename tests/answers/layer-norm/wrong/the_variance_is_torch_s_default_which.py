# family: core
# mistake: unbiased-variance
# The variance is torch's default, which divides by d - 1, not by d.
import torch
from torch import Tensor, nn


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    mean = wide.mean(dim=-1, keepdim=True)
    var = wide.var(dim=-1, keepdim=True)  # wrong
    normed = (wide - mean) / torch.sqrt(var + eps)
    return (normed * weight + bias).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return layer_norm(x, self.weight, self.bias, self.eps)
