"""Twice as much."""

from torch import Tensor


def double(x: Tensor) -> Tensor:
    """Return twice the tensor."""
    if not isinstance(x, Tensor):
        raise TypeError("x must be a tensor")
    return 2 * x
