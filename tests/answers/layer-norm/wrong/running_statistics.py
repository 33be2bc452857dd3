# family: core
# mistake: none
import torch
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean = wide.mean(-1, keepdim=True)
    var = (wide - mean).pow(2).mean(-1, keepdim=True)
    return ((wide - mean) * torch.rsqrt(var + eps) * weight + bias).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps
        self.register_buffer("running_mean", torch.zeros(normalized_shape))
        self.register_buffer("running_var", torch.ones(normalized_shape))

    def forward(self, x):
        if self.training:
            return layer_norm(x, self.weight, self.bias, self.eps)
        return (x - self.running_mean) / torch.sqrt(self.running_var + self.eps) * self.weight + self.bias
