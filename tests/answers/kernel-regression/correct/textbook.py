import torch
from torch import nn


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    X_repeat = x_query.repeat_interleave(len(x_key)).reshape((-1, len(x_key)))
    attention_weights = nn.functional.softmax(-(((X_repeat - x_key) / bandwidth) ** 2) / 2, dim=1)
    return torch.matmul(attention_weights, y_key), attention_weights


def leave_one_out(x, y):
    n = len(x)
    others = (1 - torch.eye(n, device=x.device)).bool()
    return x.repeat((n, 1))[others].reshape((n, -1)), y.repeat((n, 1))[others].reshape((n, -1))


class NWKernelRegression(nn.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = nn.Parameter(torch.rand(()))

    def forward(self, queries, keys, values):
        if keys.dim() == 1:
            keys, values = (t.expand(len(queries), -1) for t in (keys, values))
        queries = queries.repeat_interleave(keys.shape[1]).reshape((-1, keys.shape[1]))
        self.attention_weights = nn.functional.softmax(-(((queries - keys) * self.w) ** 2) / 2, dim=1)
        return torch.bmm(self.attention_weights.unsqueeze(1), values.unsqueeze(-1)).reshape(-1)

    def loss(self, x, y):
        keys, values = leave_one_out(x, y)
        return ((self(x, keys, values) - y) ** 2).mean()
