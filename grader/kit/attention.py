"""What cases of attention have in common: masks with rows of both kinds, and scores that are known exactly."""

from __future__ import annotations

from typing import Final

import torch

from grader.judge import tolerance
from grader.judge.cases.modules import Module
from grader.judge.cases.rng import Numbers

HALVES: Final = tolerance.HALVES


def both_kinds(rng: Numbers, *shape: int) -> torch.Tensor:
    """Make a random mask that includes a row (along the last axis) without and one with everything visible."""
    mask = rng.keep(*shape)
    mask[0, 0] = False
    mask[-1, -1] = True
    return mask


def collinear_tokens(rng: Numbers, batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Four tokens, the multiples 1 to 4 of one vector in random order, and these multiples: (B, 4, 4) and (B, 4)."""
    levels = torch.stack([rng.permutation(4) + 1 for _ in range(batch)]).double()
    return levels[:, :, None] * torch.tensor([1.0, -1.0, 1.0, 1.0], dtype=torch.float64), levels


def exact_projections(attention: Module, factor: float) -> None:
    """Project collinear tokens so that token i scores key j with exactly sign * 2 * factor^2 * i * j."""
    identity = torch.eye(4, dtype=torch.float64)
    attention.set(W_q__weight=factor * identity, W_k__weight=abs(factor) * identity)


def far_levels(rng: Numbers, height: float, *shape: int) -> torch.Tensor:
    """Draw numbers far from zero: height and one or two more, or its multiples where it is beyond such steps."""
    steps = rng.integers(0, 3, *shape).double()
    return height + steps * (1.0 if abs(height) < 2**20 else height)


def rows_of_all_kinds(rng: Numbers, n: int, m: int) -> torch.Tensor:
    """Make a mask (n, m) whose first three rows see nothing, one key and everything; n must be at least 4."""
    mask = rng.keep(n, m)
    mask[0], mask[1], mask[2] = False, torch.arange(m) == rng.integers(0, m, 1), True
    return mask


FAR: Final = (2.0**14, -(2.0**14), -(2.0**40))
"""Heights of scores whose ties, stand-ins and floors tell one softmax from another."""


KEYS: Final = (20, 80, 300, 600)
"""How many keys a row of such scores has: where they are many, an answer may go through them in another way."""
TOKENS: Final = (20, 80, 150, 520)
"""The same where each of them is a query, too."""


def far_keys(height: float, count: int) -> torch.Tensor:
    """Scores at this height, one for each of so many keys.

    Hundreds of them fall and rise: the first quarter stands far above those behind it, the last one far above all.
    """
    levels = torch.full((count,), height, dtype=torch.float64)
    if count > 128:
        levels[: count // 4] += abs(height) / 4
        levels[-1] += abs(height) / 2
    return levels
