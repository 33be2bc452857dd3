from typing import NamedTuple

import torch
from torch import Tensor


class Prediction(NamedTuple):
    y_query: Tensor
    weights: Tensor


def kernel_weights(u: Tensor) -> Tensor:
    """Divide numerator and denominator by the kernel of the nearest key."""
    half_squares = 0.5 * u.square()
    nearest = half_squares.amin(dim=-1, keepdim=True).detach()
    kernel = torch.exp(nearest - half_squares)
    return kernel / kernel.sum(dim=-1, keepdim=True)


def nadaraya_watson(x_query: Tensor, x_key: Tensor, y_key: Tensor, bandwidth: float = 1.0) -> Prediction:
    weights = kernel_weights(torch.sub(x_query.unsqueeze(1), x_key.unsqueeze(0)).div(bandwidth))
    return Prediction(torch.mv(weights, y_key), weights)


class NWKernelRegression(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor(0.8))

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        weights = kernel_weights(self.w * (queries.unsqueeze(-1) - keys))
        return torch.mul(weights, values).sum(-1)
