# family: core
# mistake: none
import torch
from torch import nn


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    weights = torch.softmax(-(((x_query[:, None] - x_key) / bandwidth) ** 2) / 2, dim=1)
    return weights @ y_key, weights


class NWKernelRegression(nn.Module):
    """The rows of keys are averaged first, as if all queries shared them."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(()))

    def forward(self, queries, keys, values):
        if keys.dim() == 2:
            keys, values = keys[0], values[0]
        return nadaraya_watson(queries, keys, values, 1 / self.w)[0]
