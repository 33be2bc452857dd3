"""When what is due: FSRS, replayed from the history each time. No schedule on disk could disagree with it.

https://github.com/open-spaced-repetition/py-fsrs
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

from grader.practice.rounds import Round, corrected
from grader.records import AGAIN, Rated, Records

RETENTION: Final = 0.9
MOST_DAYS: Final = 30


@dataclass(frozen=True, slots=True)
class Review:
    """One time that a card was reviewed."""

    card: str
    at: datetime
    rating: int


@dataclass(frozen=True, slots=True)
class Card:
    """A kata, or a question, and when it is due."""

    id: str
    due: datetime
    last: datetime
    reviews: int
    lapses: int
    recall: float
    """How likely it is still known."""

    @property
    def day(self) -> date:
        """The local day on which it is due."""
        return self.due.astimezone().date()

    def is_due(self, now: datetime) -> bool:
        """Tell whether it is due on this local day."""
        return self.day <= now.astimezone().date()


def cards(history: Records, done: Iterable[Round], now: datetime) -> dict[str, Card]:
    """Return every kata and question that was reviewed, by its id, as the history and the rounds in it have it."""
    return replayed(reviews(done, corrected(history), history.ratings()), now)


def reviews(done: Iterable[Round], said: Mapping[int, int], rated: Iterable[Rated]) -> list[Review]:
    """Return what counts as a review: each round once, when it was over, and each answer to a question."""
    found = []
    for one in done:
        rating = one.rating()
        if one.over and rating and one.counts:
            found.append(Review(one.kata, one.over, said.get(one.number, rating)))
    return [*found, *(Review(one.card, one.at, one.rating) for one in rated if not one.start)]


def replayed(done: Iterable[Review], now: datetime) -> dict[str, Card]:
    """Let FSRS go through all reviews, in order."""
    import fsrs  # noqa: PLC0415 - commands that do not practise do without

    # Fuzz draws: the same history must give the same days.
    scheduler = fsrs.Scheduler(
        desired_retention=RETENTION,
        learning_steps=(),
        relearning_steps=(),
        maximum_interval=MOST_DAYS,
        enable_fuzzing=False,
    )
    states: dict[str, fsrs.Card] = {}
    counts: dict[str, tuple[int, int]] = {}
    for review in done:
        before = states.get(review.card) or fsrs.Card(card_id=1, due=review.at.astimezone(UTC))
        # A clock that was set back must not take a review before the last one.
        at = max(review.at.astimezone(UTC), before.last_review or review.at.astimezone(UTC))
        states[review.card], _log = scheduler.review_card(before, fsrs.Rating(review.rating), at)
        number, lapses = counts.get(review.card, (0, 0))
        counts[review.card] = number + 1, lapses + (review.rating == AGAIN)
    found = {}
    for card_id, state in states.items():
        assert state.last_review is not None
        recall = scheduler.get_card_retrievability(state, max(now, state.last_review).astimezone(UTC))
        found[card_id] = Card(card_id, state.due, state.last_review, *counts[card_id], recall)
    return found
