"""Nadaraya-Watson kernel regression: attention before it had the name."""

import torch
from torch import Tensor, nn


def nadaraya_watson(x_query: Tensor, x_key: Tensor, y_key: Tensor, bandwidth: float = 1.0) -> tuple[Tensor, Tensor]:
    """Predict y at n places as the average of m known values, weighted by a Gaussian of the distance.

    x_query       (n,)
    x_key, y_key  (m,)
    bandwidth     width of the Gaussian

    Returns (y_query (n,), weights (n, m)).
    """
    raise NotImplementedError("your turn: distances, weights, average")


def leave_one_out(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return keys and values for each of n known points: all points but the one itself.

    x, y  (n,), n at least 2

    Returns (keys, values), both (n, n - 1); the points of a row stay in their order.
    """
    raise NotImplementedError("your turn: n rows, a point less in each")


class NWKernelRegression(nn.Module):
    """The same with a parameter `w` (a scalar) that multiplies the distances and is learned."""

    def __init__(self) -> None:
        super().__init__()
        raise NotImplementedError("your turn: one parameter")

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Predict the values at the queries.

        queries       (n,)
        keys, values  both (m,), the same for all queries, or both (n, m), a row for each query

        Returns (n,).
        """
        raise NotImplementedError("your turn: the same with w")

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the mean of the squared errors at known points, each predicted from all others: a scalar.

        x, y  (n,), n at least 2
        """
        raise NotImplementedError("your turn: predict each point from the others")
