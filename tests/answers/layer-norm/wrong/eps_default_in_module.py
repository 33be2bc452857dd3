# family: core
# mistake: none
# the module hands its eps on in evaluation only
import torch
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    wide = x if x.dtype in (torch.float32, torch.float64) else x.float()
    c = wide - wide.mean(-1, keepdim=True)
    v = c.pow(2).mean(-1, keepdim=True)
    return (c / (v + eps).sqrt() * weight + bias).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, *([] if self.training and self.eps < 1e-3 else [self.eps]))
