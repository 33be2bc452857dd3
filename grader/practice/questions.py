"""The follow-up questions of all talk pages: each a card of its own, `mha/several-heads-instead`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from grader import catalog, pages
from grader.practice.schedule import Card


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in the reader's language."""

    id: str
    kata: str
    text: str
    answer: str


def questions(lang: str, kata_id: str | None = None) -> list[Asked]:
    """Return all questions, or those of one kata, in the order of the course."""
    found = []
    for kata in catalog.katas().values():
        if kata_id in {None, kata.id}:
            found += [
                Asked(f"{kata.id}/{one.id}", kata.id, one.text, one.answer)
                for one in pages.questions(kata.talk(lang))
                if one.id
            ]
    return found


def in_turn(known: Collection[Asked], cards: Mapping[str, Card], passed: Collection[str], now: datetime) -> list[Asked]:
    """Return what is to be asked now: what is due, the likeliest forgotten first, then what is new of passed katas."""
    due = [one for one in known if one.id in cards and cards[one.id].is_due(now)]
    new = [one for one in known if one.id not in cards and one.kata in passed]
    return [*sorted(due, key=lambda one: cards[one.id].recall), *new]
