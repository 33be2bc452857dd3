"""Which cases are looked at where mistakes are sought: few, and those that show one mistake at a time first."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from grader.judge.runs.outcome import CaseOutcome

MOST_CALLS: Final = 16
"""A case that asks for more shows whatever is wrong: that one mistake does not do all of it says nothing against it."""


def order(case: CaseOutcome) -> tuple[bool, bool, bool]:
    """First what is not derived, and of this what asked the same of every answer: mistakes remember that.

    What asks for many things at once shows several mistakes together, where others show one.
    """
    return case.family != case.case.family, asks_for_much(case), case.check is not None and case.check.looked


def asks_for_much(case: CaseOutcome) -> bool:
    """Whether a case makes so many calls that several mistakes show in it together."""
    check = case.evidence.checked
    return check is not None and len(check.exchanges) > MOST_CALLS


def first_of_each_family(cases: list[CaseOutcome], most: int) -> list[CaseOutcome]:
    """Leave at most so many cases of each family, in their order."""
    by_family = groupby(sorted(cases, key=lambda case: case.family), key=lambda case: case.family)
    chosen = [case for _family, family in by_family for case in list(family)[:most]]
    return [case for case in cases if case in chosen]
