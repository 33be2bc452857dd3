import torch
import torch.nn as nn


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)


def standardise(x, eps):
    x = x - x.mean(dim=-1, keepdim=True)
    return x / torch.hypot(x.std(dim=-1, correction=0, keepdim=True), x.new_tensor(eps).sqrt())


def layer_norm(x, weight, bias, eps=1e-5):
    """Small types through float32, then the affine part in the type of the input."""
    if x.element_size() < 4:
        return standardise(x.float(), eps).type_as(x) * weight.type_as(x) + bias.type_as(x)
    x = x - x.mean(dim=-1, keepdim=True)
    variance = x.pow(2).mean(-1, keepdim=True)
    return weight * (x * (variance + eps).pow(-0.5)) + bias
