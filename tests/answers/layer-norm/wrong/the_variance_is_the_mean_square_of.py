# family: core
# mistake: none
# The variance is the mean square of the features themselves, not of their deviations from the mean.
"""Layer norm, step by step."""

import torch
from torch import nn


def moments(x):
    d = x.shape[-1]
    mean = x.sum(dim=-1, keepdim=True) / d
    var = torch.sum(x * x, dim=-1, keepdim=True) / d  # wrong
    return mean, var


def layer_norm(x, weight, bias, eps=1e-5):
    work = x if x.dtype == torch.float64 else x.to(torch.float32)
    mean, var = moments(work)
    normed = (work - mean) / (var + eps) ** 0.5
    result = normed * weight.to(work.dtype) + bias.to(work.dtype)
    return result.to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super(LayerNorm, self).__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones((normalized_shape,)))
        self.bias = nn.Parameter(torch.zeros((normalized_shape,)))

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, eps=self.eps)
