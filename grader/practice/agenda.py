"""What to do today: reviews that are due, what is under way, one new kata, a few questions."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from grader import catalog
from grader.catalog import Kata
from grader.practice.schedule import Card

MOST_REVIEWS: Final = 6
"""So many katas are reviewed on a day; what else is due waits for the next, the best known longest."""
QUESTIONS: Final = 3
MINUTES_A_QUESTION: Final = 2


@dataclass(frozen=True, slots=True)
class Agenda:
    """One evening."""

    reviews: tuple[Card, ...]
    waiting: int
    """So many reviews more are due, and wait."""
    new: Kata | None
    questions: tuple[str, ...]
    """Their ids."""
    due_questions: int
    """So many questions are due in all."""
    minutes: int
    shortest: int | None = None
    """Where nothing fits, the minutes of the shortest thing that is to be done; None where nothing is."""


def due(cards: Mapping[str, Card], now: datetime) -> list[Card]:
    """Return the katas that are due, the one that is likeliest forgotten first."""
    found = [card for card in cards.values() if card.id in catalog.katas() and card.is_due(now)]
    return sorted(found, key=lambda card: (card.recall, card.id))


def agenda(
    cards: Mapping[str, Card],
    passed: Collection[str],
    questions: Sequence[str],
    now: datetime,
    *,
    current: Kata | None = None,
    after: str = "",
    minutes: int | None = None,
) -> Agenda:
    """Return what to do on the local day of ``now``, within so many ``minutes``, where somebody has no more.

    ``questions`` are all there are, in the order in which they would be asked; ``current`` is the kata under way,
    ``after`` the one that was worked on last: a new one comes behind it.
    """
    found = catalog.katas()
    today = now.astimezone().date()
    again = [card for card in cards.values() if card.id in found and card.reviews > 1]
    done = sum(card.last.astimezone().date() == today for card in again)
    left = float("inf") if minutes is None else minutes
    everything = due(cards, now)
    reviews: list[Card] = []
    for card in everything[: max(0, MOST_REVIEWS - done)]:
        if found[card.id].minutes <= left:
            reviews.append(card)
            left -= found[card.id].minutes
    then = current or catalog.following(passed, after)
    new = then if then is not None and then.minutes <= left else None
    left -= new.minutes if new else 0
    asked = tuple(questions[: int(max(0, min(QUESTIONS, left // MINUTES_A_QUESTION)))])
    spans = [*(found[card.id].minutes for card in everything), *([then.minutes] if then else [])]
    spans += [MINUTES_A_QUESTION] if questions else []
    total = sum(found[card.id].minutes for card in reviews) + (new.minutes if new else 0)
    return Agenda(
        reviews=tuple(reviews),
        waiting=len(everything) - len(reviews),
        new=new,
        questions=asked,
        due_questions=sum(card.is_due(now) for card in cards.values() if "/" in card.id),
        minutes=total + MINUTES_A_QUESTION * len(asked),
        shortest=None if reviews or new or asked or minutes is None else min(spans, default=None),
    )


def days_in_a_row(moments: Iterable[datetime], today: date) -> int:
    """Return on how many local days in a row something was done, up to today, or to yesterday while today is young."""
    days = {moment.astimezone().date() for moment in moments}
    day = today if today in days else today - timedelta(days=1)
    count = 0
    while day - timedelta(days=count) in days:
        count += 1
    return count
