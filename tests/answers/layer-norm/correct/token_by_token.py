import torch
from torch import nn


def one_token(vector, eps):
    n = vector.numel()
    mean = vector.sum() / n
    deviation = vector - mean
    variance = (deviation * deviation).sum() / n
    return deviation / (variance + eps) ** 0.5


def layer_norm(x, weight, bias, eps=1e-5):
    wide = x.double() if x.dtype == torch.float64 else x.float()
    rows = [one_token(row, eps) for row in wide.reshape(-1, x.size(-1))]
    out = torch.stack(rows).reshape(x.shape)
    return (out * weight.to(out.dtype) + bias.to(out.dtype)).to(x.dtype)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(normalized_shape))
        self.bias = nn.Parameter(torch.zeros(normalized_shape))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.weight, self.bias, self.eps)
