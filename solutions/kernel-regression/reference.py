"""Nadaraya-Watson kernel regression: attention before it had the name.

    f(x) = Σ_i K(x - x_i) y_i / Σ_j K(x - x_j)        K(u) = exp(-(u / bandwidth)² / 2)

Nadaraya 1964, "On Estimating Regression"; Watson 1964, "Smooth Regression Analysis". The quotient is a softmax of
-(u / bandwidth)² / 2, and a softmax does not fail where all kernels underflow.
"""

import torch
from torch import Tensor, nn


def gaussian_weights(u: Tensor) -> Tensor:
    """Weights of keys at the distances u, which are the last axis."""
    return torch.softmax(-(u**2) / 2, dim=-1)


def nadaraya_watson(x_query: Tensor, x_key: Tensor, y_key: Tensor, bandwidth: float = 1.0) -> tuple[Tensor, Tensor]:
    """Predict y at n places as the average of m known values, weighted by a Gaussian of the distance.

    x_query       (n,)
    x_key, y_key  (m,)
    bandwidth     width of the Gaussian

    Returns (y_query (n,), weights (n, m)).
    """
    distances = x_query[:, None] - x_key  # (n, m)
    weights = gaussian_weights(distances / bandwidth)
    y_query = weights @ y_key  # (n,)
    return y_query, weights


def leave_one_out(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return keys and values for each of n known points: all points but the one itself.

    x, y  (n,), n at least 2

    Returns (keys, values), both (n, n - 1); the points of a row stay in their order.
    """
    n = x.size(0)
    places = torch.arange(n - 1, device=x.device)  # (m,)
    skips = places >= torch.arange(n, device=x.device)[:, None]  # (n, m)
    others = places + skips  # (n, m)
    return x[others], y[others]


class NWKernelRegression(nn.Module):
    """The same with a parameter `w` (a scalar) that multiplies the distances and is learned."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.ones(()))

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Predict the values at the queries.

        queries       (n,)
        keys, values  both (m,), the same for all queries, or both (n, m), a row for each query

        Returns (n,).
        """
        distances = queries[:, None] - keys  # (n, m)
        weights = gaussian_weights(distances * self.w)
        return (weights * values).sum(dim=-1)  # (n,)

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the mean of the squared errors at known points, each predicted from all others: a scalar.

        x, y  (n,), n at least 2
        """
        keys, values = leave_one_out(x, y)  # (n, m)
        return (self(x, keys, values) - y).square().mean()
