# family: dtype
# mistake: none
import torch
from torch import nn


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    u = (x_query.float()[:, None] - x_key.float()) / bandwidth
    weights = torch.softmax(-u.pow(2) / 2, dim=1)
    return (weights @ y_key.float()).to(y_key.dtype), weights.to(y_key.dtype)


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(()))

    def forward(self, queries, keys, values):
        u = (queries[:, None] - keys) * self.w
        return (torch.softmax(-u.pow(2) / 2, -1) * values).sum(-1)
