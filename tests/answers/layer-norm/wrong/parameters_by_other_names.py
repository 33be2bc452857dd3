# family: core
# mistake: none
import torch
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    var, mean = torch.var_mean(wide, -1, correction=0, keepdim=True)
    return ((wide - mean) / torch.sqrt(var + eps) * weight + bias).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(normalized_shape))
        self.beta = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.gamma, self.beta, self.eps)
