# family: core
# mistake: none
import torch
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    dims = tuple(range(x.dim() - 1)) or (0,)
    mean = x.float().mean(dims, keepdim=True)
    var = x.float().var(dims, unbiased=False, keepdim=True)
    return ((x - mean) / torch.sqrt(var + eps) * weight + bias).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
