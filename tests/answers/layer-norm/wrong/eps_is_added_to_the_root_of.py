# family: core
# mistake: eps-outside-the-root
# Eps is added to the root of the variance, not to the variance inside the root.
import torch
import torch.nn as nn


def layer_norm(x, weight, bias, eps=1e-5):
    dtype = x.dtype
    x = x.to(torch.promote_types(dtype, torch.float32))
    centred = x - x.mean(-1, keepdim=True)
    var = centred.pow(2).mean(-1, keepdim=True)
    # the root has no gradient at 0
    std = torch.where(var > 0, torch.where(var > 0, var, 1.0).sqrt(), 0.0)
    return (weight * centred / (std + eps) + bias).to(dtype)  # wrong


class LayerNorm(nn.Module):
    "Construct a layernorm module."

    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
