"""The way to an interview: open katas dealt out over the days that are left, by their minutes and needs."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from grader import catalog
from grader.catalog import Kata
from grader.records import Records

SETTING: Final = "plan"


@dataclass(frozen=True, slots=True)
class Goal:
    """What was planned: from a day to a day, both counted."""

    since: date
    until: date


@dataclass(frozen=True, slots=True)
class Day:
    """What a day has."""

    day: date
    katas: tuple[Kata, ...]

    @property
    def minutes(self) -> int:
        """How long its katas take."""
        return sum(kata.minutes for kata in self.katas)


def goal(history: Records) -> Goal | None:
    """Return what was planned, None where nothing was, or what no date can be read from."""
    text = history.setting(SETTING)
    if not text:
        return None
    try:
        found = json.loads(text)
        return Goal(date.fromisoformat(found["since"]), date.fromisoformat(found["until"]))
    except (ValueError, TypeError, KeyError):
        return None


def plan(history: Records, since: date, until: date) -> Goal:
    """Plan until a day."""
    history.set(SETTING, json.dumps({"since": since.isoformat(), "until": until.isoformat()}))
    return Goal(since, until)


def forget(history: Records) -> None:
    """Plan nothing any more."""
    history.set(SETTING, "")


def laid_out(passed: Collection[str], today: date, until: date) -> list[Day]:
    """Deal what is not passed out over the days that are left: in the order of the course, about as long each day.

    What really happened is in `passed`: the plan of tomorrow follows from it.
    """
    left = _in_order([kata for kata in catalog.katas().values() if kata.id not in passed])
    days = max(1, (until - today).days + 1)
    total = sum(kata.minutes for kata in left)
    found: list[list[Kata]] = [[] for _ in range(days)]
    before = 0
    for kata in left:
        # Where the middle of it falls, if each day had the same share.
        at = int((before + kata.minutes / 2) * days / total)
        found[min(at, days - 1)].append(kata)
        before += kata.minutes
    return [Day(today + timedelta(days=number), tuple(katas)) for number, katas in enumerate(found)]


def _in_order(left: list[Kata]) -> list[Kata]:
    """Return katas so that none comes before what it builds on."""
    found: list[Kata] = []
    names = {kata.id for kata in left}
    while left:
        waiting = {kata.id for kata in left}
        ready = next((kata for kata in left if not waiting & set(kata.needs) & names), left[0])
        left.remove(ready)
        found.append(ready)
    return found
