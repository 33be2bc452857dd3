# family: grad
# mistake: statistics-detached
import torch
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    wide = x if x.dtype == torch.float64 else x.float()
    with torch.no_grad():
        mean = wide.mean(-1, keepdim=True)
        inv = torch.rsqrt(wide.var(-1, unbiased=False, keepdim=True) + eps)
    return ((wide - mean) * inv * weight + bias).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
