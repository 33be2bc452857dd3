"""Masks of every form, at sizes at which one form looks like another or there is one of something.

What is wrong for one query, one head or as many sequences as heads is seen only where a mask of the form that it
concerns is there as well: each size meets each form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import torch

from grader.judge.cases.rng import Numbers

Sizes = tuple[int, int, int, int]
"""Sequences, heads, queries and keys."""

SIZES: Final[tuple[Sizes, ...]] = (
    (1, 1, 1, 1),
    (1, 2, 1, 4),
    (2, 2, 1, 3),
    (3, 1, 1, 2),
    (2, 2, 2, 2),
    (1, 2, 3, 4),
    (3, 1, 2, 4),
)
SQUARE: Final[tuple[Sizes, ...]] = (
    *(sizes for sizes in SIZES if sizes[2] == sizes[3]),
    (1, 2, 4, 4),
    (3, 1, 2, 2),
)
"""Those for self-attention, where keys are queries."""


def masks(
    rng: Numbers, sizes: Sizes, *, of_heads: bool = False, drawn: Callable[..., torch.Tensor] | None = None
) -> Iterator[torch.Tensor]:
    """Draw a mask (n, m), (B, n, m), (B, 1, m) and (1, n, m), and ``of_heads`` those of four axes, each once.

    Each has random holes, so that none is a length or a triangle; where it has several rows, one of them sees nothing.
    ``drawn``: makes a mask of a shape; else one with at least one visible key in each row.
    """
    batch, heads, n, m = sizes
    shapes: list[tuple[int, ...]] = [(n, m), (batch, n, m), (batch, 1, m), (1, n, m)]
    if of_heads:
        shapes += [(batch, 1, n, m), (batch, 1, 1, m), (1, heads, n, m), (batch, heads, n, m)]
    for shape in dict.fromkeys(shapes):
        mask = (drawn or rng.keep)(*shape)
        rows = mask.view(-1, m)
        if len(rows) > 1:
            rows[int(rng.permutation(len(rows))[0])] = False
        yield mask
