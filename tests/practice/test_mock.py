"""A mock interview in the history: two terminals, clocks set back, full disks."""

from __future__ import annotations

from datetime import timedelta

import pytest

from grader.cli.guard import running_in
from grader.errors import StateError
from grader.history import History
from grader.practice.mock import BEGUN, SUBMITTED, Plan, Stage, score_card

PLAN = Plan((Stage("sdpa", 15), Stage("mha", 25)), 40, "none", 7)


def test_two_terminals_hold_one_interview(tmp_path, clock):
    """One begins it, one hands a stage in, one ends it: the first counts."""
    clock(0)
    one, other = History(tmp_path, pytest.fail), History(tmp_path, pytest.fail)
    number = one.begin_mock(PLAN.document())
    assert other.begin_mock(PLAN.document()) == number
    assert one.mock_step(number, SUBMITTED, 0, text=("a", "first"))
    assert not other.mock_step(number, SUBMITTED, 0, text=("b", "second"))
    found = running_in(other)
    assert (found.at, found.stage.kata, found.step(SUBMITTED, 0).digest) == (1, "mha", "a")
    assert one.end_mock(number, {"mock": number})
    assert not other.end_mock(number, {"mock": 0})
    assert running_in(other) is None
    assert [row.card for row in other.mocks()] == [{"mock": number}]
    assert one.begin_mock(PLAN.document()) == number + 1
    one.close()
    other.close()


def test_a_clock_set_back_gives_no_time(history, clock):
    """What has passed once has passed."""
    clock(0)
    number = history.begin_mock(PLAN.document())
    clock(30)
    history.mock_step(number, BEGUN, 0, planted={})
    now = clock(10)
    assert running_in(history).left(now) == timedelta(minutes=10)
    assert running_in(history).left(clock(45)) == timedelta(minutes=-5)


def test_a_full_disk_ends_nothing(history, clock):
    """The step is refused in words, and is there at the next try."""
    clock(0)
    number = history.begin_mock(PLAN.document())
    (pages,) = history.db.execute("PRAGMA page_count").fetchone()
    history.db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StateError, match="disk is full"):
        history.mock_step(number, SUBMITTED, 0, text=("a", "x" * 200_000))
    assert running_in(history).at == 0
    history.db.execute("PRAGMA max_page_count = 1000000")
    assert history.mock_step(number, SUBMITTED, 0, text=("a", "x" * 200_000))
    assert running_in(history).at == 1


def test_overtime_is_told_apart(history, clock):
    """The minutes that were agreed, and those beyond."""
    clock(0)
    number = history.begin_mock(PLAN.document())
    clock(47)
    history.mock_step(number, SUBMITTED, 0, text=("a", "x"))
    rows = [{"in_time": True, "passed": True}, {"in_time": False, "passed": True}]
    card = score_card(running_in(history), rows, [("mha/why", 3)], clock(50))
    assert (card["used_minutes"], card["overtime_minutes"]) == (40, 7)
    assert (card["stages_in_time"], card["stages_passed"]) == (1, 2)
