"""The failing cases of a grading by their causes: mistakes by their names, then places, then what is merely seen.

A cause has one case as its evidence; the others that it accounts for are listed by their ids.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from grader.judge.cases.case import DERIVED_FROM
from grader.judge.explain.cause import LOCATED, Cause, ordered
from grader.judge.explain.diagnosis import Diagnosis
from grader.judge.explain.levels import TOLD
from grader.judge.explain.search import Search
from grader.judge.runs.outcome import CaseOutcome

FEW_OF_ALL: Final = 4
"""What has no more than one in so many of the cases of another cause is told after it, even by its name."""


def causes(outcomes: list[CaseOutcome], named: list[Diagnosis], source: str) -> list[Cause]:
    """Return why cases fail, the most telling first: what is out of bounds, mistakes by their names, places.

    What few cases show comes after what most do.
    """
    failing = [case for case in outcomes if case.failure is not None]
    passing = [case for case in outcomes if case.outcome == "passed" and case.family in DERIVED_FROM]
    right = [case for case in outcomes if case.outcome == "passed" and not case.is_read_off]
    most_pass = len(right) > len(failing)  # else it says little that only calls that fail come somewhere
    search = Search(failing, passing, source, right if most_pass else [])
    every_name = told_of(named)
    found = [cause for diagnosis in every_name if (cause := search.named(diagnosis, every_name)) is not None]
    found += search.by_levels()
    every = [*_joined([*found, *search.located()]), *search.seen()]
    most = max((len(cause.cases) for cause in every), default=0)
    return sorted(
        every,
        key=lambda cause: (
            not cause.evidence.is_out_of_bounds,
            not cause.is_missing,
            len(cause.cases) * FEW_OF_ALL <= most,
            cause.mistake is None,
            cause.id not in TOLD,
        ),
    )


def _joined(found: list[Cause]) -> list[Cause]:
    """Let a place that a named mistake has already be part of that mistake."""
    causes: list[Cause] = []
    at: dict[tuple[int, ...], int] = {}
    for cause in found:
        lines = cause.located.lines if cause.located is not None else ()
        first = causes[at[lines]] if lines in at else None
        if first is not None and cause.id == LOCATED and cause.is_raised == first.is_raised:
            causes[at[lines]] = replace(first, cases=ordered((*first.cases, *cause.cases)))
            continue
        if lines:
            at.setdefault(lines, len(causes))
        causes.append(cause)
    return causes


def told_of(named: list[Diagnosis]) -> list[Diagnosis]:
    """Return the mistakes to be told: those that stand for different cases or are in one file; of guesses the first."""
    several = len(named) > 1 and (named[0].together or named[0].cases != named[1].cases)
    return named if several else named[:1]
