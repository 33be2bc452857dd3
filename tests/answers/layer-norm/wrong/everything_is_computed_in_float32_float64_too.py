# family: core
# mistake: none
# Everything is computed in float32, float64 too, which loses its digits and its range.
import torch
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    kind = x.dtype
    # halves need more room
    x = x.float()  # wrong
    weight, bias = weight.to(x.dtype), bias.to(x.dtype)
    mean = torch.mean(x, dim=-1, keepdim=True)
    var = torch.var(x, dim=-1, keepdim=True, unbiased=False)
    y = (x - mean) * torch.rsqrt(var + eps)
    return torch.addcmul(bias, y, weight).to(kind)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
