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


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(()))

    def forward(self, queries, keys, values):
        k = kernel((queries.reshape(-1, 1) - keys) * self.w)
        return (k * values).sum(1) / k.sum(1)
