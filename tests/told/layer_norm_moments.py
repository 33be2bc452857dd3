# kata: layer-norm
# names: squares-minus-square
import torch
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean = wide.mean(-1, keepdim=True)
    var = (wide * wide).mean(-1, keepdim=True) - mean * mean  # wrong
    out = (wide - mean) * torch.rsqrt(var + eps)
    return (out * weight + bias).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
