"""How near a number must be: the table, what was measured, and rounding, whichever is due."""

from __future__ import annotations

import math

import pytest
import torch

from grader.judge.tolerance import (
    MULTIPLE,
    ROUNDINGS,
    SMALLEST_SCALE,
    TABLE,
    TOLERANCE,
    Moves,
    exceeds,
    part,
    tolerance,
    unmeasured,
)

F64 = torch.float64
DIGIT = torch.finfo(F64).eps


@pytest.mark.parametrize(
    ("dtype", "moved", "most", "origin"),
    [
        (F64, None, TOLERANCE[F64], "table"),
        (F64, 0.0, ROUNDINGS * DIGIT, "rounding"),
        (F64, 1e-12, MULTIPLE * 1e-12, "measured"),
        (F64, 1e-5, TOLERANCE[F64], "table"),
        (F64, math.inf, TOLERANCE[F64], "table"),
        (torch.float32, 0.0, TOLERANCE[torch.float32], "table"),
        (torch.float16, 1e-9, TOLERANCE[torch.float16], "table"),
        (torch.int64, 0.0, 0.0, "table"),
    ],
)
def test_where_a_tolerance_comes_from(dtype: torch.dtype, moved: float | None, most: float, origin: str) -> None:
    """A multiple of what was measured, rounding at least, the table at most; it is measured in float64 alone."""
    found = tolerance(dtype, 1.0, moved)
    assert (found.most, found.origin) == (pytest.approx(most), origin)
    assert found.document() == {"allowed": float(f"{found.most:.6g}"), "from": origin}


def test_rounding_is_that_of_the_largest_number() -> None:
    """Numbers that are all tiny have the rounding of one thousandth."""
    assert tolerance(F64, 100.0, 0.0).most == pytest.approx(100 * ROUNDINGS * DIGIT)
    assert tolerance(F64, 0.0, 0.0).most == pytest.approx(SMALLEST_SCALE * ROUNDINGS * DIGIT)


@pytest.mark.parametrize(
    ("error", "origin"), [(1e-15, ""), (2e-10, "measured"), (2e-6, "table"), (math.nan, "table"), (math.inf, "table")]
)
def test_the_tolerance_that_is_exceeded(error: float, origin: str) -> None:
    """It is the table's for an error that exceeds even that, so that it need not be measured."""
    found = exceeds(error, F64, 1.0, 1e-12)
    assert (found.origin if found else "") == origin


def test_parts_of_a_result() -> None:
    """One number stands for all of them; a gradient that the reference does not have is left to the table."""
    assert part([1.0, 2.0], 1) == 2.0
    assert part({"a": 3.0}, "a") == 3.0
    assert part(0.5, 7) == 0.5
    assert part(None, 0) is None
    moves = Moves(0.0, {"x": 1.0})
    assert (moves.of("x"), moves.of("y"), Moves(2.0, 3.0).of("x"), TABLE.of("x")) == (1.0, None, 3.0, None)


def test_a_gradient_that_is_noise_is_known_to_move() -> None:
    """As the last digits of the largest one do; of one that is small, and no noise, nothing is known."""
    large = torch.tensor([3.0, -40.0], dtype=F64)
    digits = ROUNDINGS * DIGIT * 40.0
    noise, small = torch.tensor([digits * 0.9, 0.0], dtype=F64), torch.tensor([digits * 1.1], dtype=F64)
    known = unmeasured({"W": large, "k.bias": noise, "b": small, "none": None, "empty": large[:0]})
    assert known == Moves(0.0, {"W": 0.0, "k.bias": digits / MULTIPLE, "b": 0.0})
    assert exceeds(digits * 0.99, F64, float(noise.max()), known.of("k.bias"), 10.0) is None
    assert exceeds(digits * 1.01, F64, float(noise.max()), known.of("k.bias"), 10.0) is not None
    assert exceeds(digits * 0.99, F64, float(small.max()), known.of("b"), 10.0) is not None
    assert unmeasured({}) == Moves(0.0, {})
