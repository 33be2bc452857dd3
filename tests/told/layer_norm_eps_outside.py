# kata: layer-norm
# names: eps-outside-the-root
import torch
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    mean = wide.mean(dim=-1, keepdim=True)
    var = ((wide - mean) ** 2).mean(dim=-1, keepdim=True)
    normed = (wide - mean) / (torch.sqrt(var) + eps)  # wrong
    return (normed * weight + bias).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
