"""Masks of every form, at sizes at which one form looks like another or there is one of something.

What is wrong for one query, one head or as many sequences as heads is seen only where a mask of the form that it
concerns is there as well: each size meets each form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import torch

from grader.judge.cases.check import Check
from grader.judge.cases.rng import Numbers
from grader.judge.exchange.results import Result

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
    (2, 2, 3, 1),
    (2, 2, 140, 3),
)
SQUARE: Final[tuple[Sizes, ...]] = (
    *(sizes for sizes in SIZES if sizes[2] == sizes[3]),
    (1, 2, 4, 4),
    (3, 1, 2, 2),
    (2, 2, 1, 1),
    (2, 2, 140, 140),
)
"""Those for self-attention, where keys are queries."""
MANY: Final = 64
"""More queries than so many meet only masks of one row, which stands for each query: in blocks of queries, too."""


def masks(
    rng: Numbers, sizes: Sizes, *, of_heads: bool = False, drawn: Callable[..., torch.Tensor] | None = None
) -> Iterator[torch.Tensor]:
    """Draw a mask (n, m), (B, n, m), (B, 1, m) and (1, n, m), and ``of_heads`` those of four axes.

    Each has random holes, so that none is a length or a triangle; where it has several rows, one of them sees nothing.
    Then each comes as a view: (n, m) as one that was transposed, the others as what was expanded to all sequences,
    heads and queries, where one sequence sees nothing while all others see something; a mask of one row hides all.
    Of ``MANY`` queries and more only masks of one row are drawn.
    ``drawn``: makes a mask of a shape; else one with at least one visible key in each row.
    """
    batch, heads, n, m = sizes
    draw = drawn or rng.keep
    shapes: list[tuple[int, ...]] = [(n, m), (batch, n, m), (batch, 1, m), (1, n, m)]
    if of_heads:
        shapes += [(batch, 1, n, m), (batch, 1, 1, m), (1, heads, n, m), (batch, heads, n, m)]
    if n > MANY:
        yield from (draw(*shape) for shape in shapes if shape[-2] == 1)
        return
    for shape in dict.fromkeys(shapes):
        mask = draw(*shape)
        rows = mask.view(-1, m)
        if len(rows) > 1:
            rows[int(rng.permutation(len(rows))[0])] = False
        yield mask
        if len(rows) == 1:
            yield torch.zeros_like(mask)
        elif len(shape) == 2:
            yield _unlike(draw(*shape)).mT.contiguous().mT
        else:
            mask = draw(*shape)
            if shape[0] > 1:
                mask[int(rng.permutation(batch)[0])] = False
            yield mask.expand(batch, n, m) if mask.dim() == 3 else mask.expand(batch, heads, n, m)


def _unlike(mask: torch.Tensor) -> torch.Tensor:
    """Let the rows of a mask (n, m) differ where they can: equal ones are alike for queries and for sequences."""
    if mask.size(1) > 1 and bool((mask == mask[:1]).all()):
        if mask.all():
            mask[0, 0] = False
        else:
            mask[0] = ~mask[0]
    return mask


def in_turns(drawn: list[torch.Tensor], turn: int) -> list[torch.Tensor]:
    """Return half of the masks of one size, both of a form: the other module of that size gets the others."""
    return [mask for number, mask in enumerate(drawn) if number // 2 % 2 == turn]


def hides(check: Check, seen: list[tuple[Result, torch.Tensor]], *, of_heads: bool = False) -> None:
    """Look whether hidden keys weigh exactly 0, in results with their masks; ``of_heads``: three axes are for all."""
    for weights, mask in seen:
        hidden = ~(mask[:, None] if of_heads and mask.dim() == 3 else mask)
        check.that(
            not bool((weights.got.masked_fill(~hidden, 0.0) != 0).any()), "a hidden key has a weight other than 0"
        )
