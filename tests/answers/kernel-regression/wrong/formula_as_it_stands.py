# family: core
# mistake: zero-over-zero
import torch
from torch import nn


def kernel(u):
    return torch.exp(-(u**2) / 2)


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    k = kernel((x_query.reshape(-1, 1) - x_key.reshape(1, -1)) / bandwidth)
    weights = k / k.sum(1, keepdim=True)
    return weights @ y_key, weights


def leave_one_out(x, y):
    n = len(x)
    others = (1 - torch.eye(n, device=x.device)).bool()
    return x.repeat((n, 1))[others].reshape((n, -1)), y.repeat((n, 1))[others].reshape((n, -1))


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(()))

    def forward(self, queries, keys, values):
        k = kernel((queries.reshape(-1, 1) - keys) * self.w)
        return (k * values).sum(1) / k.sum(1)

    def loss(self, x, y):
        keys, values = leave_one_out(x, y)
        return ((self(x, keys, values) - y) ** 2).mean()
