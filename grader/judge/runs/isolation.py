"""The smallest set of levels at which a case fails: what is switched back to plain, and fails all the same, is out.

Asked of an answer that has failed, in a few cases that pass as they are written. Half a diagnosis by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Final

from grader.judge.cases.levels import at_levels
from grader.judge.cases.variant import LevelSet
from grader.judge.contract import Grading
from grader.judge.runs.outcome import CaseOutcome, Run
from grader.judge.runs.runner import Runner

MOST_CASES: Final = 3
"""So many cases are looked at, the first ones: each is run some eight times more."""
FIRST_NUMBER: Final = 1 << 20
"""Runs are numbered; those of a kata's cases are below."""
LEFT_ALONE: Final = ("forbidden", "modified", "tampering", "stub", "missing")
"""Failures that are seen in some runs only, or have nothing to do with levels."""


def isolate(grading: Grading, outcomes: list[CaseOutcome]) -> None:
    """Note for the first failing cases at which levels they fail, of those at which they were run."""
    fail_as_written = {o.case.stream for o in outcomes if o.failure is not None and o.family == o.case.family}
    numbers = itertools.count(FIRST_NUMBER)
    chosen = (o for o in outcomes if _is_worth_it(o) and o.case.stream not in fail_as_written)
    for outcome in itertools.islice(chosen, MOST_CASES):
        outcome.needs = smallest(outcome.variant.levels, _failing(grading, outcome, numbers))


def smallest(levels: LevelSet, fails: Callable[[LevelSet], bool]) -> LevelSet:
    """Return the smallest set of these levels that fails, as far as one by one can tell."""
    for few in ((), *((level,) for level in levels)):
        if fails(few):
            return few
    for level in levels:
        fewer = tuple(other for other in levels if other != level)
        if fails(fewer):
            levels = fewer
    return levels


def _is_worth_it(outcome: CaseOutcome) -> bool:
    failure = outcome.failure
    return bool(
        failure is not None
        and outcome.outcome == "failed"
        and failure.kind not in LEFT_ALONE
        and outcome.variant.levels
        and not outcome.is_read_off
    )


def _failing(grading: Grading, outcome: CaseOutcome, numbers: Iterator[int]) -> Callable[[LevelSet], bool]:
    """Return what runs a case at other levels and tells whether it fails there."""

    def fails(levels: LevelSet) -> bool:
        again = CaseOutcome(outcome.case, at_levels(outcome.variant, dict(levels)))
        Runner(grading, lambda _outcome: None).run([Run(again, number=next(numbers))])
        return again.failure is not None

    return fails
