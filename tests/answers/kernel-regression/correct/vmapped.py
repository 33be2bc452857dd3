import torch
from torch import nn
from torch.func import vmap


def regress(x, keys, values, scale):
    weights = ((x - keys) * scale).pow(2).mul(-0.5).softmax(-1)
    return (weights * values).sum(), weights


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    return vmap(lambda x: regress(x, x_key, y_key, 1.0 / bandwidth))(x_query)


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones([]))

    def forward(self, queries, keys, values):
        axis = 0 if keys.dim() == 2 else None
        return vmap(lambda x, k, v: regress(x, k, v, self.w)[0], in_dims=(0, axis, axis))(queries, keys, values)
