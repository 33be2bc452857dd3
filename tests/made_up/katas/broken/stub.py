"""Twice as much."""


def broken(x):
    """Return twice the tensor."""
    raise NotImplementedError("your turn: twice as much")
