# family: core
# mistake: eps-lost-in-the-module
# The module does not hand its eps on to layer_norm, which then uses 1e-5.
import torch
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    y = x.float() if x.dtype in (torch.half, torch.bfloat16) else x
    y = y - y.mean(-1, keepdim=True)
    y = y * (torch.einsum("...d,...d->...", y, y)[..., None] / x.shape[-1] + eps).rsqrt()
    return (y * weight + bias).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight, self.bias = nn.Parameter(torch.ones(normalized_shape)), nn.Parameter(torch.zeros(normalized_shape))

    def forward(self, x): return layer_norm(x, self.weight, self.bias)  # wrong
