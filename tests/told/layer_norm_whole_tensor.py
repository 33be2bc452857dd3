# kata: layer-norm
# names:
import torch
from torch import nn


def layer_norm(x, weight, bias, eps=1e-5):
    h = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    mu = h.mean(dim=(-2, -1), keepdim=True) if h.dim() > 1 else h.mean()  # wrong
    var = ((h - mu) ** 2).mean(dim=-1, keepdim=True)
    return ((h - mu) / torch.sqrt(var + eps) * weight + bias).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
