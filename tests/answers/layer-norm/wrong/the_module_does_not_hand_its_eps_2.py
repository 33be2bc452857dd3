# family: core
# mistake: eps-lost-in-the-module
# The module does not hand its eps on, the function's default acts.
import torch
from torch import Tensor, nn


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    centred = x.to(wide) - x.to(wide).mean(dim=-1, keepdim=True)
    var = centred.square().mean(dim=-1, keepdim=True)
    return (centred / torch.sqrt(var + eps) * weight.to(wide) + bias.to(wide)).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))

    def forward(self, x: Tensor) -> Tensor:
        return layer_norm(x, self.weight, self.bias)  # wrong
