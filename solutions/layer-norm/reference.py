"""Layer normalisation: every token at zero mean and unit variance over its own features.

    y = (x - mean(x)) / sqrt(var(x) + eps) * weight + bias        mean and var over the features of one token

Ba, Kiros and Hinton 2016, "Layer Normalization" (arXiv:1607.06450), section 3.
"""

import torch
from torch import Tensor, nn


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Normalise the last axis of x, then scale and shift it.

    x             (..., d), any number of leading axes
    weight, bias  (d,)
    eps           added to the variance

    Returns (..., d) in the dtype of x. The variance is the mean of the squared deviations.
    """
    wide = x.to(torch.promote_types(x.dtype, torch.float32))  # squares of halves overflow; float64 stays float64
    mean = wide.mean(dim=-1, keepdim=True)  # (..., 1)
    centred = wide - mean  # (..., d)
    variance = centred.square().mean(dim=-1, keepdim=True)  # (..., 1)
    normed = centred / torch.sqrt(variance + eps)  # (..., d)
    return (normed * weight + bias).to(x.dtype)


class LayerNorm(nn.Module):
    """Layer normalisation with a learned scale and shift for each feature.

    normalized_shape  width of the last axis
    eps               added to the variance

    Parameters: weight, which starts at 1, and bias, which starts at 0, both (normalized_shape,).
    """

    def __init__(self, normalized_shape: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise x (..., normalized_shape)."""
        return layer_norm(x, self.weight, self.bias, self.eps)
