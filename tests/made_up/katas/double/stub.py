"""Twice as much."""


def double(x):
    """Return twice the tensor."""
    raise NotImplementedError("your turn: twice as much")
