# family: grad
# mistake: none
import numpy as np
import torch
from torch import nn


def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    x, k = x_query.detach().double().numpy(), x_key.detach().double().numpy()
    weights = torch.from_numpy(softmax(-(((x[:, None] - k) / bandwidth) ** 2) / 2)).to(y_key.dtype)
    return weights @ y_key, weights


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(()))

    def forward(self, queries, keys, values):
        u = (queries[:, None] - keys) * self.w
        return (torch.softmax(-u.pow(2) / 2, -1) * values).sum(-1)
