import torch
from torch import nn


def weigh(u):
    wide = u.to(torch.promote_types(u.dtype, torch.float32))
    return torch.log_softmax(-0.5 * wide * wide, dim=-1).exp()


def nadaraya_watson(x_query, x_key, y_key, bandwidth=1.0):
    dtype = x_query.dtype
    weights = weigh((x_query.view(-1, 1) if x_query.is_contiguous() else x_query.reshape(-1, 1)) / bandwidth - x_key / bandwidth)
    y = torch.einsum("nm,m->n", weights, y_key.to(weights.dtype))
    return y.to(dtype), weights.to(dtype)


def leave_one_out(x, y):
    def rows(points):
        return torch.stack([torch.cat([points[:i], points[i + 1 :]]) for i in range(len(points))])

    return rows(x), rows(y)


class NWKernelRegression(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor(1.0))

    def forward(self, queries, keys, values):
        keys, values = torch.atleast_2d(keys), torch.atleast_2d(values)
        weights = weigh((queries.unsqueeze(1) - keys) * self.w)
        n, m = weights.shape
        products = weights * values.to(weights.dtype).expand(n, m)
        return products.sum(1).to(queries.dtype)

    def loss(self, x, y):
        wide = torch.promote_types(x.dtype, torch.float32)
        errors = self(x, *leave_one_out(x, y)).to(wide) - y.to(wide)
        return errors.square().mean().to(x.dtype)
