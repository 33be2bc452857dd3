# family: core
# mistake: none
# The points of a row do not stay in their order: those behind the left out one come first.
import torch
from torch import nn


def kernel_weights(scaled):
    return (-0.5 * scaled.square()).softmax(-1)


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    calc = torch.float64 if x_query.dtype == torch.float64 else torch.float32
    diff = torch.sub(x_query.to(calc)[:, None], x_key.to(calc)[None])
    w = kernel_weights(diff / bandwidth)
    return torch.einsum("nm,m->n", w, y_key.to(calc)).to(y_key.dtype), w.to(x_query.dtype)


def leave_one_out(x, y):
    n = len(x)
    i = torch.arange(n, device=x.device)[:, None]
    j = torch.arange(n - 1, device=x.device)[None]
    rows = (i + 1 + j) % n  # wrong
    return x[rows], y[rows]


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor(1.0))

    def forward(self, queries, keys, values):
        calc = torch.float64 if queries.dtype == torch.float64 else torch.float32
        diff = queries.to(calc)[:, None] - keys.to(calc)
        w = kernel_weights(diff * self.w.to(calc))
        if values.dim() == 1:
            out = torch.einsum("nm,m->n", w, values.to(calc))
        else:
            out = torch.einsum("nm,nm->n", w, values.to(calc))
        return out.to(values.dtype)

    def loss(self, x, y):
        return nn.functional.mse_loss(self(x, *leave_one_out(x, y)), y)
