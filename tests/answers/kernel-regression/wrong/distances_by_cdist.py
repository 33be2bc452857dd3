# family: core
# mistake: distances-by-cdist
# torch.cdist multiplies out where there are more than 25 points: far from 0 near places are not told apart.
import torch
from torch import nn


def wide(t):
    return t.to(torch.promote_types(t.dtype, torch.float32))


def leave_one_out(x, y):
    n = len(x)
    keep = ~torch.eye(n, dtype=torch.bool, device=x.device)
    return x.expand(n, n)[keep].view(n, n - 1), y.expand(n, n)[keep].view(n, n - 1)


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(()))

    def forward(self, queries, keys, values):
        d = wide(queries)[:, None] - wide(keys)
        w = (-((d * self.w) ** 2) / 2).softmax(1)
        return (w * wide(values)).sum(1).to(values.dtype)

    def loss(self, x, y):
        return ((self(x, *leave_one_out(x, y)) - y) ** 2).mean()


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    d = torch.cdist(wide(x_query)[:, None], wide(x_key)[:, None]) / bandwidth  # wrong
    weights = (-(d**2) / 2).softmax(1)
    return (weights @ wide(y_key)).to(y_key.dtype), weights.to(x_query.dtype)
