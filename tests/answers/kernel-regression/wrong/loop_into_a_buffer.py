# family: device
# mistake: filled-on-the-cpu
import torch
from torch import nn


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    weights = torch.empty(x_query.shape[0], x_key.shape[0], dtype=x_query.dtype)
    for i in range(x_query.shape[0]):
        weights[i] = torch.softmax(-(((x_query[i] - x_key) / bandwidth) ** 2) / 2, dim=0)
    return weights @ y_key, weights


def leave_one_out(x, y):
    n = len(x)
    others = (1 - torch.eye(n, device=x.device)).bool()
    return x.repeat((n, 1))[others].reshape((n, -1)), y.repeat((n, 1))[others].reshape((n, -1))


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(()))

    def forward(self, queries, keys, values):
        u = (queries[:, None] - keys) * self.w
        return (torch.softmax(-u.pow(2) / 2, -1) * values).sum(-1)

    def loss(self, x, y):
        keys, values = leave_one_out(x, y)
        return ((self(x, keys, values) - y) ** 2).mean()
