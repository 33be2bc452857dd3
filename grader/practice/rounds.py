"""Rounds as the history tells them: how long each took, how it ended, and the rating that follows."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeAlias, TypeVar

from grader import catalog
from grader.records import AGAIN, EASY, GOOD, HARD, Grading, HintTaken, Records, Reveal, Start

PAUSE = timedelta(minutes=5)
"""Of a longer span without a sign of the learner's so much counts."""
NOT_OVER = 0
MINUTES = 25

Row = TypeVar("Row", Grading, HintTaken, Reveal)
Named = TypeVar("Named", Grading, HintTaken, Reveal, Start)


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a kata, of its debug rounds, reviews or mock interviews, from the start to the first pass."""

    name: str
    number: int
    """The number of its start; of what was done before any, that of its first grading below nought."""
    began: datetime
    over: datetime | None
    """When it was passed or given up; None for one that goes on."""
    minutes: float
    gradings: int
    """Until it was over."""
    hints: int
    passed: bool
    gave_up: bool
    counts: bool
    """Whether it is a review of its kata."""

    @property
    def kata(self) -> str:
        """The kata that it is about."""
        return catalog.kata_of(self.name)

    def rating(self) -> int:
        """Return what the round says of how well the kata is known, 0 where it is not over or says nothing."""
        if self.gave_up:
            return AGAIN
        if not self.passed:
            return NOT_OVER
        planned = planned_minutes(self.kata)
        if self.number < 0:
            return HARD if self.hints else GOOD  # nobody knows when it began
        if self.hints or self.minutes > 2 * planned:
            return HARD
        return EASY if self.gradings == 1 and self.minutes < planned / 2 else GOOD


@dataclass(slots=True)
class Work:
    """What went into a kata, in all of its rounds."""

    minutes: float = 0.0
    rounds: int = 0

    def document(self) -> dict[str, int]:
        """Return it as JSON has it."""
        return {"minutes": round(self.minutes), "rounds": self.rounds}


Worked: TypeAlias = defaultdict[str, Work]


def work(history: Records) -> Worked:
    """Return what went into each name."""
    found: Worked = defaultdict(Work)
    for one in rounds(history, datetime.now(UTC)):
        found[one.name].minutes += one.minutes
        found[one.name].rounds += 1
    return found


def planned_minutes(kata_id: str) -> int:
    """Return how long a kata is planned to take; one that is no more has a guess."""
    kata = catalog.katas().get(kata_id)
    return kata.minutes if kata else MINUTES


def rounds(history: Records, now: datetime | None = None) -> list[Round]:
    """Return all rounds in the order in which they were begun; those that go on have lasted until ``now``."""
    gradings, hints, reveals = (
        _by_name(history.gradings()),
        _by_name(history.all_hints()),
        _by_name(history.all_reveals()),
    )
    starts = _by_name(history.starts())
    found: list[Round] = []
    for name in {*starts, *gradings}:
        own = starts.get(name, [])
        first = Start(0, name, None, 0, 0, counts=False)
        for start, following in zip([first, *own], [*own, None], strict=True):
            last_grading, last_reveal = (
                (following.after_attempt, following.after_reveal) if following else (float("inf"), float("inf"))
            )
            graded = [one for one in gradings.get(name, []) if start.after_attempt < one.number <= last_grading]
            shown = [one for one in reveals.get(name, []) if start.after_reveal < one.number <= last_reveal]
            taken = [one for one in hints.get(name, []) if one.start == start.number]
            if start.at or graded:
                present = now if following is None else None
                planned = planned_minutes(catalog.kata_of(name))
                found.append(_round(start, graded, taken, shown, planned, present))
    return sorted(found, key=lambda one: one.number)


class Ending(NamedTuple):
    """A round that a pass ends which is not in the history yet, and which round of its name it is."""

    round: Round
    number: int


def ending(history: Records, name: str) -> Ending | None:
    """Return the round that a pass ends now; None where it was over before."""
    now = datetime.now(UTC)
    own = [one for one in rounds(history, now) if one.name == name]
    if not own or own[-1].over:
        return None
    return Ending(replace(own[-1], over=now, gradings=own[-1].gradings + 1, passed=True), len(own))


def corrected(history: Records) -> dict[int, int]:
    """Return the ratings that learners gave rounds themselves, by the number of the start: the last word counts."""
    return {one.start: one.rating for one in history.ratings() if one.start}


def _round(
    start: Start,
    graded: Sequence[Grading],
    taken: Sequence[HintTaken],
    shown: Sequence[Reveal],
    planned: int,
    now: datetime | None,
) -> Round:
    graded, taken, shown = _steadily(graded, start.at), _steadily(taken, start.at), _steadily(shown, start.at)
    passed = next((one for one in graded if one.whole and one.verdict == "passed"), None)
    given_up = next((one for one in shown if one.gave_up or passed is None or one.at < passed.at), None)
    if passed and given_up and passed.at < given_up.at:
        given_up = None
    over = given_up.at if given_up else passed.at if passed else None
    until = [one for one in graded if passed is None or one.number <= passed.number]
    if given_up:
        until = [one for one in until if one.at <= given_up.at]
    hints = [one for one in taken if over is None or one.at <= over]
    signs = [(one.at, True, one.seconds) for one in until] + [(one.at, False, 0.0) for one in hints]
    if given_up:
        signs.append((given_up.at, False, 0.0))
    if over is None and now is not None:
        signs.append((now, False, 0.0))
    began = start.at or (graded[0].at if graded else datetime.now(UTC))
    return Round(
        name=start.name,
        number=start.number or -graded[0].number,
        began=began,
        over=over,
        minutes=_worked(start.at, sorted(signs), timedelta(minutes=planned)).total_seconds() / 60,
        gradings=len(until),
        hints=len(hints),
        passed=passed is not None and given_up is None,
        gave_up=given_up is not None,
        counts=start.counts or catalog.kind_of(start.name) in {"", "review"},
    )


def _worked(start: datetime | None, signs: Iterable[tuple[datetime, bool, float]], planned: timedelta) -> timedelta:
    """Add up the time between signs of the learner's: of a long span as much as `PAUSE`, of the first writing the plan.

    Nobody sees how long somebody writes before the first grading, so that counts up to the planned minutes.
    """
    total, before, graded = timedelta(), start, False
    for at, is_grading, seconds in signs:
        if before is not None:
            span = max(timedelta(), at - timedelta(seconds=seconds) - before)
            most = planned if is_grading and not graded else PAUSE
            total += min(span, max(most, PAUSE))
        before, graded = at if before is None else max(before, at), graded or is_grading
    return total


def _steadily(rows: Sequence[Row], start: datetime | None) -> list[Row]:
    """Return rows in their order, none earlier than the one before it: a clock may have been set back."""
    found, last = [], start
    for row in rows:
        last = row.at if last is None else max(last, row.at)
        found.append(row._replace(at=last))
    return found


def _by_name(rows: Iterable[Named]) -> dict[str, list[Named]]:
    found: dict[str, list[Named]] = defaultdict(list)
    for row in rows:
        found[row.name].append(row)
    return dict(found)
