# family: grad
# mistake: w-read-as-a-number
# W goes into the weights as a Python number, so no gradient ever reaches it.
import torch
from torch import nn


def _average(distances, values, factor):
    # Gaussian kernel and its normalisation are one softmax
    scores = -((distances * factor) ** 2) / 2
    weights = torch.softmax(scores, dim=-1)
    return (weights * values).sum(dim=-1), weights


def _up(*tensors):
    # halves have too few digits for squares
    return [t.float() if t.dtype in (torch.float16, torch.bfloat16) else t for t in tensors]


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    q, k, v = _up(x_query, x_key, y_key)
    y, weights = _average(q.reshape(-1, 1) - k, v, 1 / bandwidth)
    return y.to(x_query.dtype), weights.to(x_query.dtype)


def leave_one_out(x, y):
    keys, values = [], []
    for i in range(x.shape[0]):
        keys.append(torch.cat((x[:i], x[i + 1 :])))
        values.append(torch.cat((y[:i], y[i + 1 :])))
    return torch.stack(keys), torch.stack(values)


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(()))

    def forward(self, queries, keys, values):
        q, k, v = _up(queries, keys, values)
        factor = self.w.item()  # wrong
        prediction, _ = _average(q.reshape(-1, 1) - k, v, factor)
        return prediction.to(queries.dtype)

    def loss(self, x, y):
        keys, values = leave_one_out(x, y)
        error = self.forward(x, keys, values) - y
        return (error * error).mean()
