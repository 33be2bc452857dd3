"""How far a number may be from the expected one, and where that comes from: the one place that says so.

``docs/proof.md`` derives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import torch

TOLERANCE: Final = {
    torch.float64: 1e-6,
    torch.float32: 1e-5,
    torch.bfloat16: 3e-2,
    torch.float16: 5e-3,
}
"""``max|got - want| <= tolerance * max|want|``, by the dtype of the result, where nothing was measured, and the most
that a measure may come to: in float32 34 times above the worst honest variant that was seen, 77 times below the
smallest bug."""

MEASURED: Final = frozenset((torch.float64,))
"""In these the table is far above what correct computations need: see :meth:`grader.judge.verdict.twin.Twin.moves`."""

HALVES: Final = frozenset((torch.bfloat16, torch.float16))
NEAR: Final = 2.0
"""Numbers that are at most so many times as far away as the table allows may be there by bad luck."""

CANCELLED: Final = 1e-7
NEAR_NOTHING: Final = 10.0
"""In float32 what is allowed so little is a number that happens to be near 0: the terms that it was made of, which are
around 1 as a rule, have rounded to more than that, and at most to so many times as much."""

MULTIPLE: Final = 128.0
"""A correct answer may be so many times as far away as the reference moves when all is rounded otherwise: nearly twice
the worst that was seen, and four times below the smallest loss of digits."""

ROUNDINGS: Final = 32.0
"""Where the reference hardly moves: so many last digits of the largest number."""

SMALLEST_SCALE: Final = 1e-3
"""Where all expected values are smaller, errors are relative to this: exact zeros may be missed by rounding noise."""

GRADIENT_SLACK: Final = 10.0
"""By the table a gradient may be off ten times as far: tables that are float32 by contract are in it, and sums over
the batch."""

Origin = Literal["table", "rounding", "measured"]

Moved = Any
"""How far the numbers of a result moved when all was rounded otherwise: a tree like the result with a number for each
tensor or float, one number for all of it, or None where the table decides."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a number may be from the expected one, and where that comes from."""

    most: float
    origin: Origin

    def document(self) -> dict[str, Any]:
        """Return what the report says of it."""
        return {"allowed": float(f"{self.most:.6g}"), "from": self.origin}


@dataclass(frozen=True, slots=True)
class Moves:
    """How far what a call returned, and its gradients by name, moved when all was rounded otherwise."""

    results: Moved
    grads: Moved
    """A dict, or one number for all of them."""

    def of(self, gradient: str) -> float | None:
        """Return how far a gradient moved, None for one that the reference does not have."""
        found: float | None = self.grads.get(gradient) if isinstance(self.grads, dict) else self.grads
        return found


TABLE: Final = Moves(None, None)
"""Nobody has measured, and nobody will."""


def unmeasured(gradients: Mapping[str, torch.Tensor | None]) -> Moves:
    """Return what is known of a call in float64 before anybody measures: what is within it is within any measure.

    Of its results nothing. A gradient that is no larger than the last digits of another one is what rounding leaves of
    terms of that size which cancel, like that of the keys' bias, which no softmax sees: it moves as those digits do.
    """
    largest = {name: float(grad.abs().max()) for name, grad in gradients.items() if grad is not None and grad.numel()}
    digits = ROUNDINGS * torch.finfo(torch.float64).eps * max(largest.values(), default=0.0)
    return Moves(0.0, {name: digits / MULTIPLE if own <= digits else 0.0 for name, own in largest.items()})


def relative(dtype: torch.dtype) -> float:
    """Return the relative tolerance of a dtype by the table; 0 for integers and bools."""
    return TOLERANCE.get(dtype, 0.0)


def allowed(largest: float, share: float) -> float:
    """Return how far a number may be from one among numbers the largest of which is this."""
    return share * max(largest, SMALLEST_SCALE)


def tolerance(dtype: torch.dtype, largest: float, moved: float | None = None, slack: float = 1.0) -> Tolerance:
    """Return how far numbers of a dtype, the largest of which is this, may be from the expected ones.

    ``moved``: how far the reference's moved when all was rounded otherwise; None where nobody has measured. ``slack``:
    by how much the table is exceeded.
    """
    most = Tolerance(allowed(largest, slack * relative(dtype)), "table")
    if moved is None or dtype not in MEASURED:
        return most
    rounding = Tolerance(allowed(largest, ROUNDINGS * torch.finfo(dtype).eps), "rounding")
    measured = Tolerance(MULTIPLE * moved, "measured")
    found = measured if measured.most > rounding.most else rounding
    return found if found.most < most.most else most


def exceeds(
    error: float, dtype: torch.dtype, largest: float, moved: float | None = None, slack: float = 1.0
) -> Tolerance | None:
    """Return the tolerance that an error exceeds, if it does: the table's where even that, since nothing is wider."""
    for far in (None, moved):
        room = tolerance(dtype, largest, far, slack)
        if not error <= room.most:
            return room
    return None


def may_be_bad_luck(dtype: torch.dtype, times: float, allowed: Tolerance | None) -> bool:
    """Whether numbers that are so many times as far away as is allowed may be right, and others are drawn."""
    is_short = dtype in HALVES or dtype == torch.float32
    return (is_short and 1.0 < times <= NEAR) or is_near_nothing(dtype, times, allowed)


def is_near_nothing(dtype: torch.dtype, times: float, allowed: Tolerance | None) -> bool:
    """Whether numbers that are so many times as far away as is allowed only happen to be near 0."""
    is_small = allowed is not None and allowed.most <= CANCELLED
    return dtype == torch.float32 and is_small and 1.0 < times <= NEAR_NOTHING


def part(moved: Moved, key: Any) -> Moved:
    """Return how far a part of a result moved."""
    return moved[key] if isinstance(moved, (tuple, list, dict)) else moved
