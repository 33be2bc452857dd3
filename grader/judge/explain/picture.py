"""What a wrong result looks like beside the right one: a window of numbers around the first wrong one."""

from __future__ import annotations

import math
from typing import Any, Final

import torch

from grader.judge.explain.locate.wrong import wrong_results
from grader.judge.runs.outcome import CaseOutcome, failed_after

MOST: Final = 8
"""So many rows and columns: people cannot compare more."""
TOLD: Final = "weights"
"""The result that tells most, where it is among those that are wrong."""
DIGITS: Final = 4


def picture(case: CaseOutcome) -> dict[str, Any] | None:
    """Return a window of a wrong result and of the right one; None where there is nothing to be seen side by side."""
    called = failed_after(case)
    if not called or called[-1].want is None or case.failure is None or case.failure.kind not in ("value", "nan"):
        return None
    wrong = [
        (got, want, name)
        for got, want, name in wrong_results(called[-1].value, called[-1].want, called[-1])
        if got is not None and _fits(got, want)
    ]
    if not wrong:
        return None
    got, want, name = next((one for one in wrong if one[2] == TOLD), wrong[0])
    got, want = got.double(), want.double()
    slack = 1e-3 * max(float(want[want.isfinite()].abs().max()) if bool(want.isfinite().any()) else 0.0, 1e-3)
    bad = ~((got == want) | ((got - want).abs() <= slack))
    bad = bad if bool(bad.any()) else got != want
    at = [int(index) for index in bad.nonzero()[0]]
    front = at[:-2]
    theirs, mine = (part[tuple(front)].reshape((-1, part.shape[-1])) for part in (want, got))
    rows, columns = _window(at[-2] if len(at) > 1 else 0, theirs.shape[0]), _window(at[-1], theirs.shape[1])
    label = name or ""
    return {
        "label": label + (f"[{', '.join(map(str, front))}]" if front else ""),
        "rows": [rows.start, rows.stop, theirs.shape[0]],
        "columns": [columns.start, columns.stop, theirs.shape[1]],
        "expected": written(theirs[rows, columns]),
        "got": written(mine[rows, columns]),
    }


def _fits(got: torch.Tensor, want: torch.Tensor) -> bool:
    return got.shape == want.shape and want.dim() > 0 and want.is_floating_point() and bool((got != want).any())


def _window(at: int, size: int) -> slice:
    """Return the places around one that are shown."""
    start = max(0, min(at - MOST // 2, size - MOST))
    return slice(start, min(size, start + MOST))


def written(numbers: torch.Tensor) -> list[list[float | str]]:
    """Return numbers that JSON can hold: what is none is a word."""
    return [[_number(value) for value in row] for row in numbers.tolist()]


def _number(value: float) -> float | str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(f"{value:.{DIGITS}g}")
