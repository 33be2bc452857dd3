"""Keys and values in eight bits, and attention over them."""

import torch
from torch import Tensor

Quantised = tuple[Tensor, Tensor]


def quantise(x: Tensor, axis: int) -> Quantised:
    """Write numbers as multiples of a step, from -127 to 127.

    x     floating point, any shape
    axis  the numbers along it share a step; may be negative

    Returns (q, scale): q in int8, of the shape of x, and the step of each row in the dtype of x, where axis is 1 long.
    """
    raise NotImplementedError("your turn: the step first, then how many of them")


def dequantise(q: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the numbers that q and scale stand for, in this dtype and with its digits."""
    raise NotImplementedError("your turn: the way back")


def int8_attention(query: Tensor, keys: Quantised, values: Quantised) -> Tensor:
    """Attend over a cache in which every token has a step of its own.

    query   (B, H, n, d_k), floating point; each query sees all m keys
    keys    (q, scale), int8 (B, H, m, d_k) and (B, H, m, 1)
    values  (q, scale), int8 (B, H, m, d_v) and (B, H, m, 1)

    Returns (B, H, n, d_v) in the query's dtype. A number of the cache goes through one elementwise operation at most.
    """
    raise NotImplementedError("your turn: where do the steps go?")
