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
