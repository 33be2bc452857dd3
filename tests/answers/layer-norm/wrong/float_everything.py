# family: dtype
# mistake: float64-narrowed
import torch
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    h = x.float()
    mean = h.mean(-1, keepdim=True)
    var = h.var(-1, unbiased=False, keepdim=True)
    h = (h - mean) * torch.rsqrt(var + eps)
    return (h * weight.float() + bias.float()).type_as(x)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
