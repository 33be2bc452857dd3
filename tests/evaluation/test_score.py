"""pass@k and its interval."""

from __future__ import annotations

import itertools
import random
from math import comb
from statistics import fmean

import pytest

from grader.evaluation.score import Tally, estimate, pass_at, wilson


@pytest.mark.parametrize("graded", [1, 2, 5, 8])
def test_it_is_the_share_of_choices_that_hold_a_pass(graded: int) -> None:
    """pass@k is what counting all choices of k samples gives: without bias."""
    for passed in range(graded + 1):
        samples = [True] * passed + [False] * (graded - passed)
        for k in range(1, graded + 1):
            counted = fmean(any(chosen) for chosen in itertools.combinations(samples, k))
            assert pass_at(k, graded, passed) == pytest.approx(counted)
            assert pass_at(k, graded, passed) == pytest.approx(1 - comb(graded - passed, k) / comb(graded, k))


def test_fewer_than_k_samples_say_nothing() -> None:
    """There is no estimate, which is not nought."""
    assert pass_at(5, 4, 4) is None
    assert estimate(5, [Tally(4, 4)]).mean is None


def test_large_counts_stay_numbers() -> None:
    """The product neither overflows nor loses its digits."""
    assert pass_at(1, 100_000, 12_345) == pytest.approx(0.12345)
    assert pass_at(100, 200_000, 1) == pytest.approx(100 / 200_000)


def test_missing_samples_count_nowhere() -> None:
    """An error of the grader is neither a pass nor a failure."""
    tally = Tally()
    for verdict in ("passed", "error", "failed", "error", "error"):
        tally.add(verdict)
    assert (tally.graded, tally.passed, tally.missing) == (2, 1, 3)
    assert estimate(1, [tally]).mean == 0.5


def test_each_task_counts_alike() -> None:
    """A task with more samples weighs no more."""
    assert estimate(1, [Tally(1, 1), Tally(99, 0)]).mean == 0.5


def test_wilson_by_hand() -> None:
    """Known values: 1 of 10, and none of 10."""
    assert wilson(0.1, 10) == pytest.approx((0.0179, 0.4042), abs=1e-4)
    assert wilson(0.0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)


@pytest.mark.parametrize("passed", [0, 4])
def test_all_alike_is_not_sure(passed: int) -> None:
    """Where every task passes, or none, the interval is as wide as that many tasks leave it."""
    found = estimate(1, [Tally(4, passed)] * 37)
    assert found.mean == passed / 4
    assert found.high - found.low == pytest.approx(0.094, abs=1e-3)


@pytest.mark.parametrize("k", [1, 4])
def test_the_interval_holds_what_it_says(k: int) -> None:
    """Of tasks and samples drawn anew, nine in ten intervals hold the mean over all tasks that may be drawn."""
    draw = random.Random(5)
    truth = fmean(1 - (1 - draw.betavariate(0.8, 1.2)) ** k for _each in range(200_000))
    held = 0
    for _evaluation in range(400):
        tallies = []
        for _task in range(37):
            chance = draw.betavariate(0.8, 1.2)
            tallies.append(Tally(8, sum(draw.random() < chance for _sample in range(8))))
        found = estimate(k, tallies)
        held += found.low <= truth <= found.high
        assert found.low <= found.mean <= found.high
    assert held / 400 > 0.9
