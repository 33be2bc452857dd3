import torch
from torch import nn
from torch.func import vmap


def regress(x, keys, values, scale):
    weights = ((x - keys) * scale).pow(2).mul(-0.5).softmax(-1)
    return (weights * values).sum(), weights


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    return vmap(lambda x: regress(x, x_key, y_key, 1.0 / bandwidth))(x_query)


def leave_one_out(x, y):
    n = x.shape[0]
    others = (torch.arange(n - 1, device=x.device) + torch.arange(1, n + 1, device=x.device)[:, None]) % n
    others = others.sort(dim=1).values
    return x[others], y[others]


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones([]))

    def forward(self, queries, keys, values):
        axis = 0 if keys.dim() == 2 else None
        return vmap(lambda x, k, v: regress(x, k, v, self.w)[0], in_dims=(0, axis, axis))(queries, keys, values)

    def loss(self, x, y):
        return vmap(lambda a, b: (a - b).square())(self(x, *leave_one_out(x, y)), y).mean()
