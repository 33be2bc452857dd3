"""The backward pass of layer normalisation, by hand.

    x̂ = (x - mean(x)) / sigma        sigma = sqrt(var(x) + eps)        y = x̂ * weight + bias

    dx = (dx̂ - mean(dx̂) - x̂ * mean(dx̂ * x̂)) / sigma        dx̂ = dy * weight

The means are those over the features of one token.

Ba, Kiros and Hinton 2016, "Layer Normalization" (arXiv:1607.06450), section 3. The chain rule is that of Ioffe and
Szegedy 2015, "Batch Normalization" (arXiv:1502.03167), section 3, along the other axis.
"""

import torch
from torch import Tensor


def layer_norm_backward(
    x: Tensor, weight: Tensor, d_output: Tensor, eps: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of a loss through layer normalisation.

        y = (x - mean(x)) / sqrt(var(x) + eps) * weight + bias

    x         (..., d), any number of leading axes
    weight    (d,)
    d_output  (..., d), the gradient of the loss with respect to y
    eps       added to the variance

    Returns (dx (..., d), d_weight (d,), d_bias (d,)) in the dtype of x: the gradients with respect to x, weight and
    bias. The variance is the mean of the squared deviations.
    """
    dtype, d = x.dtype, x.size(-1)
    wide = torch.promote_types(dtype, torch.float32)  # squares of halves overflow; float64 stays float64
    x, weight, d_output = x.to(wide), weight.to(wide), d_output.to(wide)

    centred = x - x.mean(dim=-1, keepdim=True)  # (..., d)
    variance = centred.square().mean(dim=-1, keepdim=True)  # (..., 1)
    sigma = torch.sqrt(variance + eps)  # (..., 1)
    normed = centred / sigma  # (..., d)

    d_weight = (d_output * normed).reshape(-1, d).sum(dim=0)  # (d,)
    d_bias = d_output.reshape(-1, d).sum(dim=0)  # (d,)

    d_normed = d_output * weight  # (..., d)
    through_mean = d_normed.mean(dim=-1, keepdim=True)  # (..., 1)
    through_variance = (d_normed * normed).mean(dim=-1, keepdim=True)  # (..., 1)
    dx = (d_normed - through_mean - normed * through_variance) / sigma  # (..., d)
    return dx.to(dtype), d_weight.to(dtype), d_bias.to(dtype)
