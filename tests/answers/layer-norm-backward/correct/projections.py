"""dx is what is left of dL/dx̂ beside the constant vector and x̂."""
import math
from typing import NamedTuple

import torch
from torch import Tensor


class Gradients(NamedTuple):
    dx: Tensor
    d_weight: Tensor
    d_bias: Tensor


def remove(g, direction):
    """Subtract the part of g along a direction of squared length d."""
    return g - direction * (g * direction).sum(-1, keepdim=True) / direction.shape[-1]


def layer_norm_backward(x: Tensor, weight: Tensor, d_output: Tensor, eps: float = 1e-5) -> Gradients:
    wide = torch.promote_types(x.dtype, torch.float32)
    y, g = x.to(wide), d_output.to(wide)
    ones = torch.ones_like(y)
    centred = remove(y, ones)
    sigma = centred.square().mean(-1, keepdim=True).add(eps).sqrt()
    normed = centred / sigma
    along = g * weight.to(wide)
    dx = remove(along, ones) - normed * (along * normed).mean(-1, keepdim=True)
    tokens = math.prod(x.shape[:-1])
    d_weight = (g * normed).reshape(tokens, -1).sum(0)
    return Gradients((dx / sigma).to(x.dtype), d_weight.to(x.dtype), g.reshape(tokens, -1).sum(0).to(x.dtype))
