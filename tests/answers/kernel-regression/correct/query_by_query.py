import torch
from torch import nn


def one(x, x_key, y_key, scale):
    u = (x - x_key) * scale
    w = torch.softmax(-u * u / 2, dim=0)
    return w.dot(y_key), w


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    found = [one(x, x_key, y_key, 1 / bandwidth) for x in x_query]
    return torch.stack([y for y, _ in found]), torch.stack([w for _, w in found])


def leave_one_out(x, y):
    n = len(x)
    index = torch.tensor([[j for j in range(n) if j != i] for i in range(n)], device=x.device)
    return x[index], y[index]


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_parameter("w", nn.Parameter(torch.randn(())))

    def forward(self, queries, keys, values):
        rows = range(len(queries))
        pick = (lambda t, i: t[i]) if keys.ndim == 2 else (lambda t, i: t)
        return torch.stack([one(queries[i], pick(keys, i), pick(values, i), self.w)[0] for i in rows])

    def loss(self, x, y):
        keys, values = leave_one_out(x, y)
        errors = [(one(x[i], keys[i], values[i], self.w)[0] - y[i]) ** 2 for i in range(len(x))]
        return sum(errors) / len(errors)
