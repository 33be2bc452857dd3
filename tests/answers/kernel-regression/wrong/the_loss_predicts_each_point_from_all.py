# family: core
# mistake: own-key-kept
# The loss predicts each point from all points, itself included, instead of from all others.
import torch
from torch import nn


def up(t):
    return t.float() if t.dtype in (torch.float16, torch.bfloat16) else t


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    u = (up(x_query)[:, None] - up(x_key)[None, :]) / bandwidth
    weights = torch.softmax(-(u**2) / 2, dim=1)
    return torch.mv(weights, up(y_key)).to(x_query.dtype), weights.to(x_query.dtype)


def leave_one_out(x, y):
    n = len(x)
    # without its diagonal each row has all points but its own
    keep = (1 - torch.eye(n, device=x.device)).bool()
    return x.repeat(n, 1)[keep].reshape(n, -1), y.repeat(n, 1)[keep].reshape(n, -1)


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(()))

    def forward(self, queries, keys, values):
        # keys and values: (m,) or (n, m)
        if keys.dim() == 1:
            keys, values = keys.expand(len(queries), -1), values.expand(len(queries), -1)
        distances = up(queries).unsqueeze(1) - up(keys)
        attention_weights = nn.functional.softmax(-((distances * up(self.w)) ** 2) / 2, dim=1)
        out = torch.bmm(attention_weights.unsqueeze(1), up(values).unsqueeze(-1))
        return out.reshape(-1).to(queries.dtype)

    def loss(self, x, y):
        predictions = self(x, x, y)  # wrong
        return nn.functional.mse_loss(predictions, y)
