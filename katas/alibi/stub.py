"""ALiBi: attention with linear biases. A score loses a little for each token between query and key."""

import torch
from torch import Tensor


def alibi_slopes(n_heads: int) -> Tensor:
    """One slope for each head, (H,), float32.

    2^(-8 (h + 1) / n_heads) for h = 0, 1, ... where n_heads is a power of two. Else: the slopes of the largest power
    of two below it, then every other slope, from the first on, of twice that power, as many as are missing.
    """
    raise NotImplementedError("your turn: a geometric sequence, and what is missing from the next one")


def alibi_bias(n_heads: int, n: int, m: int | None = None, device: torch.device | str | None = None) -> Tensor:
    """What is added to the scores of n queries and m keys, -slope * |i - j|: (H, n, m), float32, on `device`.

    The queries are the last n of m positions; m = None means n.
    """
    raise NotImplementedError("your turn: slopes times distances")
