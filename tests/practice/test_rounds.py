"""The clock of a round, and what it says of how well a kata is known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from grader.history import History
from grader.practice.rounds import Round, corrected, ending, rounds
from grader.practice.schedule import reviews
from grader.records import AGAIN, EASY, GOOD, HARD
from grader.schema import MIGRATIONS

EVENING = datetime(2026, 3, 2, 19, 0, tzinfo=UTC)
KATA = "mha"
"""Planned to take 25 minutes."""


def grade(history: History, verdict: str = "failed", name: str = KATA, *, whole: bool = True) -> None:
    """Record a grading that took no time."""
    outcome = {"outcome": "passed" if verdict == "passed" else "failed"}
    history.record(name, verdict, {"verdict": verdict, "cases": [outcome], "seconds": 0.0}, whole=whole)


def only(history: History, now: datetime | None = None) -> Round:
    """Return the one round that there is."""
    (found,) = rounds(history, now)
    return found


def test_minutes_are_those_of_work(history, clock):
    """Writing counts up to the plan before the first grading, then a pause counts as five minutes at most."""
    clock(0)
    history.begin(KATA, anew=True)
    clock(20)
    grade(history)
    clock(23)
    history.take_hint(KATA, [1])
    clock(23 + 120)
    grade(history, "passed")
    found = only(history)
    assert (found.minutes, found.gradings, found.hints) == (20 + 3 + 5, 2, 1)
    assert (found.passed, found.over) == (True, EVENING + timedelta(minutes=143))


def test_a_night_before_the_first_grading_counts_as_the_plan(history, clock):
    """Nobody knows how long somebody wrote."""
    clock(0)
    history.begin(KATA, anew=True)
    clock(14 * 60)
    grade(history, "passed")
    assert only(history).minutes == 25


def test_an_open_round_goes_on(history, clock):
    """Until now, as far as it is no pause; what comes after the pass does not count."""
    clock(0)
    history.begin(KATA, anew=True)
    assert only(history, clock(3)).minutes == 3
    assert only(history, clock(300)).minutes == 5
    clock(4)
    grade(history, "passed")
    clock(6)
    grade(history, "passed")
    history.take_hint(KATA, [1])
    assert (only(history, clock(8)).minutes, only(history).gradings, only(history).hints) == (4, 1, 0)


@pytest.mark.parametrize(
    ("minutes", "gradings", "hints", "rating"),
    [(12, 1, 0, EASY), (12, 2, 0, GOOD), (13, 1, 0, GOOD), (12, 1, 1, HARD), (12, 9, 0, GOOD), (12, 10, 0, HARD)],
)
def test_the_rating_of_a_pass(history, clock, minutes, gradings, hints, rating):
    """Easy at the first grading under half the minutes; hard after a hint or in more than twice of them."""
    clock(0)
    history.begin(KATA, anew=True)
    for _ in range(hints):
        history.take_hint(KATA, [1])
    for number in range(gradings):
        clock(minutes + 4.5 * number)
        grade(history, "passed" if number == gradings - 1 else "failed")
    assert only(history).rating() == rating


def test_giving_up_is_again(history, clock):
    """Also in a later round of a kata that was passed before; a pass after it changes nothing."""
    clock(0)
    history.begin(KATA, anew=True)
    grade(history, "passed")
    history.reveal(KATA, gave_up=False)
    assert only(history).rating() == EASY
    clock(10)
    history.begin(KATA, anew=True)
    clock(12)
    history.reveal(KATA, gave_up=False)
    clock(13)
    grade(history, "passed")
    assert [one.rating() for one in rounds(history)] == [EASY, AGAIN]


def test_what_is_not_over_has_no_rating(history, clock):
    """Nor has a pass of chosen cases."""
    clock(0)
    history.begin(KATA, anew=True)
    grade(history)
    grade(history, "passed", whole=False)
    assert (only(history).rating(), only(history).over) == (0, None)


def test_a_clock_that_was_set_back(history, clock):
    """Gradings belong to the round in which they were made, and no minute counts below nought."""
    clock(60)
    history.begin(KATA, anew=True)
    clock(70)
    grade(history)
    clock(0)
    grade(history, "passed")
    history.begin(KATA, anew=True)
    clock(5)
    grade(history)
    first, second = rounds(history)
    assert (first.minutes, first.gradings, first.passed) == (10, 2, True)
    assert (second.minutes, second.gradings, second.passed) == (5, 1, False)


def test_the_round_that_a_pass_ends(history, clock):
    """It is told before it is recorded, and once."""
    clock(0)
    assert ending(history, KATA) is None
    history.begin(KATA, anew=True)
    grade(history)
    found = ending(history, KATA)
    assert (found.number, found.round.gradings, found.round.passed) == (1, 2, True)
    grade(history, "passed")
    assert ending(history, KATA) is None


def test_rounds_from_before_rounds_were_counted(tmp_path, monkeypatch):
    """In a history of the second schema the moments tell which grading belongs to which round."""
    with monkeypatch.context() as patch:
        patch.setattr("grader.database.MIGRATIONS", MIGRATIONS[:2])
        patch.setattr("grader.database.SCHEMA", 2)
        old = History(tmp_path, pytest.fail)
        for hour, number in ((18, 1), (20, 2)):
            at = f"2026-01-01T{hour}:00:00.000000+00:00"
            old.db.execute("INSERT INTO starts (kata, at) VALUES ('mha', ?)", (at,))
            old.db.execute("INSERT INTO sources VALUES (?, '')", (str(number),))
            old.db.execute(
                "INSERT INTO attempts VALUES (NULL, 'mha', ?, 'passed', 1, 1, 0.0, 1, ?, '{}')",
                (at.replace(":00:00", ":10:00"), str(number)),
            )
        old.close()
    new = History(tmp_path, pytest.fail)
    assert [(one.minutes, one.gradings) for one in rounds(new)] == [(10, 1), (10, 1)]
    new.close()


def test_a_debug_round_counts_where_one_chooses_so(history, clock):
    """Others, reviews among them, always do."""
    clock(0)
    history.plant("mha.debug", seed=1, bugs=1, planted={})
    history.plant("mha.debug", seed=1, bugs=1, planted={}, counts=True)
    history.begin("mha.review", anew=True)
    history.begin("mha.mock", anew=True)
    history.begin("mha.mock", anew=True, counts=True)
    assert [one.counts for one in rounds(history)] == [False, True, True, False, True]


def test_a_kata_that_was_graded_and_never_begun(history, clock):
    """Nobody knows how long it took, so a pass is good; its rating can be corrected like any other."""
    clock(0)
    for name in ("mha", "sdpa"):
        grade(history, "passed", name)
    found = rounds(history)
    assert [one.rating() for one in found] == [GOOD, GOOD]
    assert len({one.number for one in found} - {0}) == 2
    history.rate("mha", AGAIN, start=found[-1].number)
    assert corrected(history) == {found[-1].number: AGAIN}
    assert len(reviews(found, corrected(history), history.ratings())) == 2


def test_an_open_debug_round_may_count_from_now_on(history, clock):
    """Where somebody goes on with it as a review."""
    clock(0)
    history.plant("mha.debug", seed=1, bugs=1, planted={})
    assert not only(history).counts
    history.begin("mha.debug", anew=False, counts=True)
    assert only(history).counts
