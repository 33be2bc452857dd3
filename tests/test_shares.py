"""Which of the many are done on which day: each of them has its own, and one day is as long as the other."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

from tests.conftest import EVERY_DAY, KATAS_A_DAY, SHARES, is_todays

COURSE = [f"kata-{number}" for number in range(24)]


def made_up(name: str, *marks: pytest.MarkDecorator) -> SimpleNamespace:
    """Return a test with some marks."""
    known = {mark.name: mark.mark for mark in marks}
    return SimpleNamespace(nodeid=f"tests/test_made_up.py::{name}", get_closest_marker=known.get)


def days_of(item: SimpleNamespace) -> list[int]:
    """Return the days on which a test is done."""
    return [day for day in range(SHARES) if is_todays(item, COURSE, day)]


@pytest.mark.parametrize("group", [None, "kata-3", "no kata"])
@pytest.mark.parametrize("shares", [2, 3, 4, 12, SHARES])
def test_each_has_its_days(group: str | None, shares: int) -> None:
    """One day in as many as its mark says, wherever it belongs."""
    for name in map(str, range(50)):
        marks = [pytest.mark.one_of_many(of=shares), *([pytest.mark.xdist_group(group)] if group else [])]
        assert len(days_of(made_up(name, *marks))) == SHARES // shares


def test_what_is_none_of_many_is_done_every_day() -> None:
    """Without the mark there is no day without it."""
    assert len(days_of(made_up("x", pytest.mark.xdist_group("kata-1")))) == SHARES


def test_a_day_has_a_few_katas() -> None:
    """Only every twelfth kata is graded on a day, and what it has of many is spread over its days."""
    marks = [[pytest.mark.one_of_many, pytest.mark.xdist_group(kata)] for kata in COURSE for _answer in range(60)]
    items = [(made_up(str(number), *pair), pair[1].args[0]) for number, pair in enumerate(marks)]
    for day in range(SHARES):
        today = Counter(kata for item, kata in items if is_todays(item, COURSE, day))
        assert set(today) == set(COURSE[day % KATAS_A_DAY :: KATAS_A_DAY])
        assert max(today.values()) < 25


@pytest.mark.parametrize("kata", EVERY_DAY)
def test_katas_of_every_day_are_spread(kata: str) -> None:
    """Their judges prepare each day, so that their answers need no day of their own: no day has many of them."""
    marks = pytest.mark.one_of_many, pytest.mark.xdist_group(kata)
    items = [made_up(str(number), *marks) for number in range(10 * SHARES)]
    found = [sum(is_todays(item, [*EVERY_DAY, *COURSE], day) for item in items) for day in range(SHARES)]
    assert sum(found) == len(items)
    assert max(found) < 25


@pytest.mark.xdist_group("one worker")
def test_one_worker_does_a_group(request: pytest.FixtureRequest) -> None:
    """What shares a judge comes to the worker that has it, of which pytest-xdist tells by the name of a test."""
    if not hasattr(request.config, "workerinput"):
        pytest.skip("there is one process")
    assert request.node.nodeid.endswith("@one worker")
