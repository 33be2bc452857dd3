"""How often samples pass: pass@k, without bias, with an interval."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, variance
from typing import Final

Z: Final = 1.959963984540054
"""Of the normal distribution 95 % lie within so many standard deviations."""


@dataclass(slots=True)
class Tally:
    """What came of the samples for one task; those that the grader could not judge are missing and count nowhere."""

    graded: int = 0
    passed: int = 0
    missing: int = 0

    def add(self, verdict: str) -> None:
        """Count one more."""
        self.missing += verdict == "error"
        self.graded += verdict != "error"
        self.passed += verdict == "passed"


@dataclass(frozen=True, slots=True)
class Estimate:
    """pass@k over tasks: the mean, its interval of 95 %, and of how many tasks; None where no task has k samples."""

    k: int
    mean: float | None
    low: float | None
    high: float | None
    tasks: int


def pass_at(k: int, graded: int, passed: int) -> float | None:
    """Return the chance that one of k samples passes, from ``graded`` of which ``passed`` did; None for fewer than k.

    The unbiased estimate 1 - C(n - c, k) / C(n, k) of Chen et al. 2021 (arXiv:2107.03374), as their product.
    """
    if graded < k:
        return None
    failed = graded - passed
    if failed < k:
        return 1.0
    chance = 1.0
    for left in range(failed + 1, graded + 1):
        chance *= 1.0 - k / left
    return 1.0 - chance


def estimate(k: int, tallies: Iterable[Tally]) -> Estimate:
    """Return the mean of pass@k over the tasks that have k samples, each task alike, with Wilson's interval.

    Tasks count as drawn from many like them: what the mean varies by is how tasks differ, the noise of their samples
    included. In the interval stand as many independent yes-or-no draws as would vary by as much (Korn and Graubard
    1998), never more than there are groups of k samples. Where all tasks pass or all fail nothing varies; there each
    task is one draw, so that one that was seen once is not sure.
    """
    counted = [tally for tally in tallies if tally.graded >= k]
    scores = [score for tally in counted if (score := pass_at(k, tally.graded, tally.passed)) is not None]
    if not scores:
        return Estimate(k, None, None, None, 0)
    mean = fmean(scores)
    groups = sum(tally.graded // k for tally in counted)
    low, high = wilson(mean, _draws(scores, mean, groups))
    return Estimate(k, mean, low, high, len(scores))


def wilson(mean: float, draws: float) -> tuple[float, float]:
    """Return the interval of 95 % for a share that was seen in so many draws (Wilson 1927)."""
    square = Z * Z / draws
    middle = (mean + square / 2) / (1 + square)
    half = Z / (1 + square) * sqrt(mean * (1 - mean) / draws + square / (4 * draws))
    return max(0.0, middle - half), min(1.0, middle + half)


def _draws(scores: list[float], mean: float, groups: int) -> float:
    if len(scores) == 1:
        return float(groups)
    if mean in (0.0, 1.0):
        return float(len(scores))
    spread = variance(scores, mean) / len(scores)
    return min(float(groups), mean * (1 - mean) / spread) if spread else float(groups)
