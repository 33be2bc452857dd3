"""The smallest set of levels at which a case fails: what is switched back to plain, and fails all the same, is out.

Asked of an answer that has failed, in a few cases that pass as they are written. Half a diagnosis by itself.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import Final

from grader.judge.cases.case import Case
from grader.judge.cases.levels import RECORDED, UNRECORDED, at_levels
from grader.judge.cases.variant import LevelSet, Variant
from grader.judge.contract import Grading
from grader.judge.runs.outcome import CaseOutcome, Run
from grader.judge.runs.runner import Runner

MOST_CASES: Final = 3
"""So many cases are looked at, the first ones: each is run some eight times more."""
FIRST_NUMBER: Final = 1 << 20
"""Runs are numbered; those of a kata's cases are below."""
LEFT_ALONE: Final = ("forbidden", "modified", "tampering", "stub", "missing")
"""Failures that are seen in some runs only, or have nothing to do with levels."""


def isolate(grading: Grading, outcomes: list[CaseOutcome], source: str) -> None:
    """Note for the first failing cases at which levels they fail, of those at which they were run.

    Of an answer that asks whether gradients are recorded also whether the first one that fails as it is written, which
    is without, fails with them.
    """
    fail_as_written = {o.case.stream for o in outcomes if o.failure is not None and o.family == o.case.family}
    numbers = itertools.count(FIRST_NUMBER)
    for outcome in itertools.islice(filter(_is_without_gradients, outcomes), 1 if _asks_for_gradients(source) else 0):
        recorded = at_levels(outcome.variant, {"gradients": RECORDED})
        variants = (recorded, dataclasses.replace(recorded, grad=True))
        if not all(_fails(grading, outcome.case, variant, next(numbers)) for variant in variants):
            outcome.needs = (("gradients", UNRECORDED),)
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


def _is_without_gradients(outcome: CaseOutcome) -> bool:
    """Whether a case that is written to be without gradients fails by what it returns."""
    failure = outcome.failure
    is_written = outcome.family == outcome.case.family and outcome.variant.recording == "no_grad"
    return failure is not None and is_written and failure.kind not in LEFT_ALONE and failure.group != "error"


def _asks_for_gradients(source: str) -> bool:
    """Whether an answer may take another path without gradients."""
    return "grad_enabled" in source or "requires_grad" in source or "inference" in source


def _failing(grading: Grading, outcome: CaseOutcome, numbers: Iterator[int]) -> Callable[[LevelSet], bool]:
    """Return what runs a case at other levels and tells whether it fails there."""

    def fails(levels: LevelSet) -> bool:
        return _fails(grading, outcome.case, at_levels(outcome.variant, dict(levels)), next(numbers))

    return fails


def _fails(grading: Grading, case: Case, variant: Variant, number: int) -> bool:
    again = CaseOutcome(case, variant)
    Runner(grading, lambda _outcome: None).run([Run(again, number=number)])
    return again.failure is not None
