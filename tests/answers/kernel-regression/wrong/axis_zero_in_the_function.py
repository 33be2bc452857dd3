# family: core
# mistake: function-over-the-queries
import torch
from torch import nn


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    weights = torch.softmax(-(((x_query[:, None] - x_key) / bandwidth) ** 2) / 2, 0)
    return weights @ y_key, weights


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor(1.0))

    def forward(self, queries, keys, values):
        weights = torch.softmax(-(((queries[:, None] - keys) * self.w) ** 2) / 2, 1)
        return (weights * values).sum(1)
