# family: core
# mistake: epsilon-below
import torch
from torch import nn


def weigh(u):
    k = torch.exp(-0.5 * u.pow(2))
    return k / k.sum(-1, keepdim=True).clamp(min=1e-12)


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    weights = weigh((x_query[:, None] - x_key[None]) / bandwidth)
    return weights @ y_key, weights


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(()))

    def forward(self, queries, keys, values):
        return (weigh((queries[:, None] - keys) * self.w) * values).sum(-1)
