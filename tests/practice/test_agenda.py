"""What is to do today, and the days until an interview."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from grader import catalog
from grader.practice.agenda import MOST_REVIEWS, agenda, days_in_a_row
from grader.practice.plan import Goal, forget, goal, laid_out, plan
from grader.practice.schedule import Card

NOW = datetime(2026, 3, 2, 19, 0, tzinfo=UTC)


def card(name: str, *, due: int, recall: float = 0.9, reviews: int = 1, last: int = -9) -> Card:
    """Return a card that is due in so many days."""
    return Card(name, NOW + timedelta(days=due), NOW + timedelta(days=last), reviews, 0, recall)


def test_the_likeliest_forgotten_comes_first():
    """What is due later is not there."""
    cards = {one.id: one for one in (card("mha", due=0), card("sdpa", due=-1, recall=0.5), card("rope", due=1))}
    found = agenda(cards, {"masked-softmax"}, ["a", "b", "c", "d"], NOW)
    assert [one.id for one in found.reviews] == ["sdpa", "mha"]
    assert found.new.id == "valid-lens"
    assert found.questions == ("a", "b", "c")
    katas = catalog.katas()
    assert found.minutes == sum(katas[name].minutes for name in ("mha", "sdpa", "valid-lens")) + 3 * 2


def test_no_pile_up():
    """Six reviews a day, those of this day among them; the rest waits."""
    names = list(catalog.katas())[:10]
    cards = {name: card(name, due=-3, recall=number / 10) for number, name in enumerate(names)}
    found = agenda(cards, (), [], NOW)
    assert [one.id for one in found.reviews] == names[:MOST_REVIEWS]
    assert found.waiting == 4
    cards |= {name: card(name, due=5, reviews=2, last=0) for name in names[:4]}
    assert len(agenda(cards, (), [], NOW).reviews) == 2


def test_little_time():
    """Reviews come first, then what is new, then questions, each only where it fits."""
    cards = {"mha": card("mha", due=0)}
    short = agenda(cards, set(catalog.katas()) - {"valid-lens"}, ["a", "b", "c"], NOW, minutes=29)
    assert ([one.id for one in short.reviews], short.new, short.questions) == (["mha"], None, ("a", "b"))
    none = agenda(cards, (), ["a"], NOW, minutes=1)
    assert (none.reviews, none.waiting, none.new, none.questions, none.minutes) == ((), 1, None, (), 0)
    assert (short.shortest, none.shortest) == (None, 2)
    assert agenda(cards, (), [], NOW, minutes=1).shortest == min(
        catalog.following(()).minutes, catalog.katas()["mha"].minutes
    )
    assert agenda({}, catalog.katas(), [], NOW, minutes=1).shortest is None


def test_days_in_a_row():
    """Days of the learner's own calendar; a day that is not over yet breaks nothing."""
    today = NOW.astimezone().date()
    days = [NOW - timedelta(days=number) for number in (1, 2, 2, 4)]
    assert days_in_a_row(days, today) == 2
    assert days_in_a_row([NOW, *days], today) == 3
    assert days_in_a_row([], today) == 0


@pytest.mark.parametrize("days", [1, 2, 7, 14, 60])
def test_a_plan_deals_everything_out(days):
    """Every open kata once, none before what it builds on, about as long each day."""
    today = date(2026, 3, 2)
    passed = {"masked-softmax", "valid-lens"}
    dealt = laid_out(passed, today, today + timedelta(days=days - 1))
    order = [kata.id for day in dealt for kata in day.katas]
    assert sorted(order) == sorted(set(catalog.katas()) - passed)
    for number, name in enumerate(order):
        assert set(catalog.katas()[name].needs) <= passed | set(order[:number])
    longest = max(kata.minutes for kata in catalog.katas().values())
    total = sum(day.minutes for day in dealt)
    assert len(dealt) == days
    assert max(day.minutes for day in dealt) <= total / days + longest


def test_a_plan_whose_day_is_over():
    """What is left is for today."""
    (day,) = laid_out((), date(2026, 3, 9), date(2026, 3, 2))
    assert len(day.katas) == len(catalog.katas())


def test_a_plan_is_kept(tmp_path):
    """Until another is made, or none; what cannot be read is none."""
    from grader.history import History  # noqa: PLC0415

    history = History(tmp_path, pytest.fail)
    assert goal(history) is None
    since, until = date(2026, 3, 2), date(2026, 3, 9)
    assert plan(history, since, until) == goal(history) == Goal(since, until)
    history.set("plan", "{}")
    assert goal(history) is None
    forget(history)
    assert goal(history) is None
    history.close()
