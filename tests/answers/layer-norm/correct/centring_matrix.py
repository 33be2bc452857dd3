"""Centring as a projection; any axes that the weight has."""
import math

import torch
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    axes = tuple(range(-weight.dim(), 0))
    work = torch.promote_types(x.dtype, torch.float32)
    x_, w, b = x.to(work), weight.to(work), bias.to(work)
    count = math.prod(weight.shape)
    x_ = x_ - x_.sum(axes, keepdim=True) / count
    power = (x_ ** 2).sum(axes, keepdim=True) / count
    return torch.where(power >= 0, x_ / torch.sqrt(power + eps), x_).mul(w).add(b).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.register_parameter("weight", nn.Parameter(torch.ones(shape)))
        self.register_parameter("bias", nn.Parameter(torch.zeros(shape)))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
