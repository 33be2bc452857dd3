"""When what is due: from the history alone, whatever becomes of clocks, terminals and disks."""

from __future__ import annotations

import itertools
import random
import shutil
import time
from datetime import UTC, datetime, timedelta
from statistics import mean

import pytest

from grader import catalog
from grader.errors import StateError
from grader.history import History
from grader.practice.agenda import MOST_REVIEWS, due
from grader.practice.rounds import corrected, planned_minutes, rounds
from grader.practice.schedule import MOST_DAYS, Card, Review, cards, replayed, reviews
from grader.practice.standing import Standing
from grader.records import AGAIN, EASY, GOOD, HARD

NOW = datetime(2026, 3, 2, 19, 0, tzinfo=UTC)
DAY = 24 * 60


def pass_it(history: History, name: str) -> None:
    """Record a pass that took no time."""
    history.record(name, "x", {"verdict": "passed", "cases": [{"outcome": "passed"}], "seconds": 0.0}, whole=True)


def known(history: History, now: datetime) -> dict:
    """Return the cards as the history has them."""
    return cards(history, rounds(history, now), now)


def test_the_better_it_was_known_the_later_it_is_due():
    """After a day, and after a month at the latest."""
    found = replayed([Review(str(rating), NOW, rating) for rating in (AGAIN, HARD, GOOD, EASY)], NOW)
    days = [(found[str(rating)].due - NOW).days for rating in (AGAIN, HARD, GOOD, EASY)]
    assert days == sorted(days)
    assert days[0] == 1
    often = [Review("a", NOW + timedelta(days=30 * number), EASY) for number in range(6)]
    (card,) = replayed(often, NOW).values()
    assert (card.due - card.last).days == MOST_DAYS
    assert (card.reviews, card.lapses) == (6, 0)


def test_a_round_counts_once_and_a_correction_instead_of_it(history, clock):
    """The last word counts, and other rounds stay as they were."""
    now = clock(0)
    history.begin("mha", anew=True)
    clock(20)
    pass_it(history, "mha")
    pass_it(history, "mha")
    before = known(history, now)["mha"]
    assert (before.reviews, before.lapses) == (1, 0)
    number = rounds(history)[0].number
    history.rate("mha", EASY, start=number)
    history.rate("mha", AGAIN, start=number)
    after = known(history, now)["mha"]
    assert (after.reviews, after.lapses) == (1, 1)
    assert after.due < before.due
    assert corrected(history) == {number: AGAIN}


def test_debug_rounds_and_reviews_and_questions(history, clock):
    """A review is one of its kata, a debug round where one chose so; a question is a card of its own."""
    now = clock(0)
    for name, counts in (("mha.debug", False), ("sdpa.debug", True)):
        history.plant(name, seed=1, bugs=1, planted={}, counts=counts)
        pass_it(history, name)
    history.begin("rope.review", anew=True)
    history.reveal("rope.review", gave_up=True)
    assert history.rate("mha/why", GOOD)
    found = known(history, now)
    assert sorted(found) == ["mha/why", "rope", "sdpa"]
    assert found["rope"].lapses == 1


def test_two_terminals_rate_a_question_once(tmp_path, clock):
    """Both were asked it; the first answer counts."""
    clock(0)
    one, other = History(tmp_path, pytest.fail), History(tmp_path, pytest.fail)
    assert one.rate("mha/why", GOOD, known=0)
    assert not other.rate("mha/why", AGAIN, known=0)
    assert [rated.rating for rated in other.ratings()] == [GOOD]
    assert other.rate("mha/why", AGAIN, known=other.ratings()[-1].number)
    one.close()
    other.close()


def test_two_terminals_pass_one_round(tmp_path, clock):
    """It is rated once."""
    now = clock(0)
    one, other = History(tmp_path, pytest.fail), History(tmp_path, pytest.fail)
    one.begin("mha.review", anew=True)
    for history in (one, other):
        pass_it(history, "mha.review")
    assert len(reviews(rounds(one, now), {}, [])) == 1
    assert not other.under_way("mha.review")
    one.close()
    other.close()


def test_a_clock_set_back_takes_no_review_before_the_last(history, clock):
    """And the kata is due after the later moment."""
    now = clock(DAY)
    history.begin("mha", anew=True)
    pass_it(history, "mha")
    clock(0)
    history.begin("mha.review", anew=True)
    pass_it(history, "mha.review")
    card = known(history, now)["mha"]
    assert card.reviews == 2
    assert card.last == now
    assert card.due > now


@pytest.mark.parametrize(
    ("zone", "due_at", "before", "after"),
    [
        ("UTC", "2026-03-05T19:00", "2026-03-04T23:59", "2026-03-05T00:00"),
        ("Asia/Shanghai", "2026-03-05T19:00", "2026-03-05T15:59", "2026-03-05T16:00"),
        ("America/New_York", "2026-03-05T19:00", "2026-03-05T04:59", "2026-03-05T05:00"),
        # The clocks go forward on the 29th, back on the 25th: the day begins at another hour.
        ("Europe/Berlin", "2026-03-29T12:00", "2026-03-28T22:59", "2026-03-28T23:00"),
        ("Europe/Berlin", "2026-03-30T12:00", "2026-03-29T21:59", "2026-03-29T22:00"),
        ("Europe/Berlin", "2026-10-26T12:00", "2026-10-25T22:59", "2026-10-25T23:00"),
    ],
)
def test_it_is_due_from_the_beginning_of_the_local_day(monkeypatch, zone, due_at, before, after):
    """Whatever hour it was passed at."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        due_at, before, after = (datetime.fromisoformat(f"{moment}+00:00") for moment in (due_at, before, after))
        card = Card("mha", due_at, due_at - timedelta(days=3), 1, 0, 0.9)
        assert not card.is_due(before)
        assert card.is_due(after)
        assert card.is_due(due_at)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_full_disk_loses_nothing(history, clock):
    """A rating that cannot be stored is an error in words; what was there stays, and the next try counts once."""
    now = clock(0)
    history.rate("mha/why", GOOD)
    (pages,) = history.db.execute("PRAGMA page_count").fetchone()
    history.db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StateError, match="disk is full"):
        list(map(history.rate, map("mha/{}".format, range(3000)), itertools.repeat(GOOD)))
    stored = len(known(history, now))
    history.db.execute("PRAGMA max_page_count = 1000000")
    assert history.rate("mha/last", GOOD)
    assert len(known(history, now)) == stored + 1


FOUR_WEEKS = 37
"""So many katas a learner takes up, however fast: who takes more has more to review than evenings hold."""


class Learner:
    """Somebody who passes katas evening by evening, and forgets."""

    def __init__(self, history: History, clock, seed: int, new_a_day: float) -> None:
        self.history, self.clock = history, clock
        self.draw = random.Random(seed)
        self.new_a_day = new_a_day
        self.due: list[int] = []
        self.done: list[int] = []
        self.minutes: list[int] = []

    def evening(self, day: int) -> None:
        """Do what the agenda says, and new katas."""
        now = self.clock(day * DAY)
        found = rounds(self.history, now)
        known_cards = cards(self.history, found, now)
        standing = Standing(now, self.history.summaries(), found, known_cards, None)
        agenda = standing.agenda([])
        self.due.append(len(due(known_cards, now)))
        self.done.append(len(agenda.reviews))
        at = day * DAY
        for card in agenda.reviews:
            at += self.round(f"{card.id}.review", at, remembers=self.draw.random() < card.recall)
        for _ in range(int(self.new_a_day * (day + 1)) - int(self.new_a_day * day)):
            passed = {name for name, one in self.history.summaries().items() if one.passed}
            kata = catalog.following(passed)
            if kata and len(passed & catalog.katas().keys()) < FOUR_WEEKS:
                at += self.round(kata.id, at, remembers=self.draw.random() < 0.7)
        self.minutes.append(at - day * DAY)

    def round(self, name: str, at: int, *, remembers: bool) -> int:
        """Take a round; return its minutes."""
        planned = planned_minutes(catalog.kata_of(name))
        minutes = int(planned * self.draw.uniform(0.3, 1.2)) if remembers else planned
        self.clock(at)
        self.history.begin(name, anew=True)
        if not remembers:
            if self.draw.random() < 0.5:
                self.history.reveal(name, gave_up=True)
            else:
                self.history.take_hint(name, [1])
        self.clock(at + minutes)
        pass_it(self.history, name)
        return minutes


@pytest.mark.one_of_many(of=3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("new_a_day", [1, 1.5, 2])
def test_four_weeks(history, clock, tmp_path, seed, new_a_day):
    """A learner who forgets, with a fake clock: no day has more than six reviews, and nothing waits for long.

    The schedule is nowhere but in the history: a copy of that has the same.
    """
    learner = Learner(history, clock, seed, new_a_day)
    for day in range(28):
        learner.evening(day)
    assert max(learner.done) <= MOST_REVIEWS
    # What waits is done on the next days: it does not pile up.
    assert max(learner.due) <= MOST_REVIEWS * 1.5
    assert mean(learner.minutes) < 80
    now = clock(28 * DAY)
    before = known(history, now)
    assert len(before) == len({one.kata for one in rounds(history)}) >= 27
    (tmp_path / "copy").mkdir()
    history.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(tmp_path / "history.db", tmp_path / "copy" / "history.db")
    copy = History(tmp_path / "copy", pytest.fail)
    assert known(copy, now) == before
    copy.close()
