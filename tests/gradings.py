"""What the gradings of all known answers share: the inputs of one seed, and a worker of `make test` for each kata.

A judge prepares for the inputs of a seed once. Whatever is graded on this one, in whichever file of the tests, finds
that done when it comes to the worker that has the kata.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import pytest

from grader import catalog
from grader.dev.answers import Known, known_answers
from tests.conftest import EVERY_DAY, KATAS_A_DAY

SEED: Final = 2017
"""One for all: what fails here fails again. `kata dev check` draws others."""


@cache
def answers_of(kata: str) -> tuple[Known, ...]:
    """Return every answer that is known for a kata: read once for all tests."""
    return tuple(known_answers(catalog.find(kata)))


def on_its_worker(kata: str) -> pytest.MarkDecorator:
    """Return the mark of tests that one worker does, one after the other, since they share a judge."""
    return pytest.mark.xdist_group(kata)


def by_kata(*tests: Any, of: int = 1) -> list[Any]:
    """Return the parameters of a test, of which the first is a kata, for the workers that have their judges.

    Each is done on a day of its kata, when its judge is prepared anyway; that of a few katas is prepared every day, and
    what it grades is done on one day in ``of``.
    """
    found = []
    for test in tests:
        values, name, marks = (test.values, test.id, test.marks) if hasattr(test, "values") else (test, None, ())
        shares = of if values[0] in EVERY_DAY else KATAS_A_DAY
        found.append(of_kata(values[0], *values, name=name, shares=shares, marks=marks))
    return found


def of_kata(kata: str, *values: Any, name: str | None, shares: int = 1, marks: Iterable[Any] = ()) -> Any:
    """Return the parameters of a test that grades answers to a kata, one of ``shares`` days perhaps."""
    shared = [pytest.mark.one_of_many(of=shares)] if shares > 1 else []
    return pytest.param(*values, id=name, marks=[*marks, on_its_worker(kata), *shared])
