"""A mock interview: what was agreed, what happened, how much time is left, what it came to.

All of it follows from rows of the history, with moments of the wall clock: a closed terminal changes nothing.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from grader import catalog
from grader.catalog import Kata
from grader.records import MockRow, MockStep

FEEDBACK: Final = ("none", "count", "full")
STAGES: Final = 3
MINUTES: Final = 60
"""As long as nobody says, stages are taken as long as they fit into so many minutes."""
QUESTIONS: Final = 3
FIRST: Final = ("mha", "kv-cache", "sdpa")
"""What is asked of somebody who has passed nothing yet."""

BEGUN, SUBMITTED, GRADED, ZERO, ASKED = "begun", "submitted", "graded", "zero", "asked"


@dataclass(frozen=True, slots=True)
class Stage:
    """One task of a mock interview."""

    kata: str
    minutes: int
    debug: bool = False

    @property
    def name(self) -> str:
        """The name of its file and rounds."""
        return catalog.beside(self.kata, "mock")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is agreed before a mock interview begins."""

    stages: tuple[Stage, ...]
    minutes: int
    feedback: str
    seed: int

    def document(self) -> dict[str, Any]:
        """Return it as the history keeps it."""
        return asdict(self)

    @classmethod
    def read(cls, document: dict[str, Any]) -> Plan:
        """Read what `document` wrote."""
        stages = tuple(Stage(**stage) for stage in document["stages"])
        return cls(stages, document["minutes"], document["feedback"], document["seed"])


@dataclass(frozen=True, slots=True)
class Mock:
    """A mock interview as far as it has come."""

    number: int
    began: datetime
    plan: Plan
    steps: tuple[MockStep, ...]
    over: bool

    @classmethod
    def of(cls, row: MockRow, steps: Sequence[MockStep]) -> Mock:
        """Return it as the history tells it."""
        return cls(row.number, row.at, Plan.read(row.plan), tuple(steps), row.ended is not None)

    @property
    def deadline(self) -> datetime:
        """When its time is over."""
        return self.began + timedelta(minutes=self.plan.minutes)

    @property
    def at(self) -> int:
        """The stage that it is at; as many as there are stages after the last."""
        return len({step.stage for step in self.steps if step.kind == SUBMITTED})

    @property
    def stage(self) -> Stage | None:
        """That stage; None when all were handed in."""
        return self.plan.stages[self.at] if self.at < len(self.plan.stages) else None

    @property
    def is_begun(self) -> bool:
        """Whether the file of the present stage was written."""
        return any(step.kind == BEGUN and step.stage == self.at for step in self.steps)

    def left(self, now: datetime) -> timedelta:
        """Return the time that is left, below nought in overtime; a clock set back gives nobody more."""
        latest = max([now, self.began, *(step.at for step in self.steps)])
        return self.deadline - latest

    def step(self, kind: str, stage: int) -> MockStep | None:
        """Return the last step of a kind in a stage."""
        return next((one for one in reversed(self.steps) if (one.kind, one.stage) == (kind, stage)), None)

    def katas(self) -> set[str]:
        """Return the katas that it asks."""
        return {stage.kata for stage in self.plan.stages}


def drawn(
    wanted: Sequence[str],
    passed: Collection[str],
    *,
    minutes: int | None,
    debug: bool,
    stages: int,
    feedback: str,
    seed: int,
) -> Plan:
    """Return what a mock interview asks: stages along needs up to one kata, or these; or a debug round and more.

    Several katas that are wanted are the stages, in their order.
    """
    draw = random.Random(seed)  # noqa: S311 - a draw, no secret
    katas = catalog.katas()
    if len(wanted) > 1:
        chosen = [katas[name] for name in wanted]
    elif debug:
        goal = katas[wanted[0]] if wanted else _goal(passed, draw)
        then = [kata for kata in katas.values() if goal.id in kata.needs]
        chosen = [goal, *([draw.choice(then)] if then else [])][:stages]
    else:
        goal = katas[wanted[0]] if wanted else _goal(passed, draw)
        chosen = _way_to(goal)[-stages:]
        while len(chosen) > 1 and sum(kata.minutes for kata in chosen) > (minutes or MINUTES):
            chosen = chosen[1:]
    planned = tuple(Stage(kata.id, kata.minutes, debug and number == 0) for number, kata in enumerate(chosen))
    total = minutes or sum(stage.minutes for stage in planned)
    return Plan(planned, total, feedback, seed)


def _goal(passed: Collection[str], draw: random.Random) -> Kata:
    """Return what a mock interview leads to: something that was passed, for an interview asks what one prepares."""
    katas = catalog.katas()
    known = [kata for kata in katas.values() if kata.id in passed and kata.needs]
    if known:
        return draw.choice(known)
    first = [katas[name] for name in FIRST if name in katas]
    return first[0] if first else next(iter(katas.values()))


def _way_to(goal: Kata) -> list[Kata]:
    """Return katas that build on each other, each the longest of what the next one needs."""
    katas = catalog.katas()
    way = [goal]
    while before := [katas[name] for name in way[0].needs if name in katas and katas[name] not in way]:
        way.insert(0, max(before, key=lambda kata: (kata.minutes, kata.id)))
    return way


def score_card(
    mock: Mock, results: Sequence[dict[str, Any]], ratings: Sequence[tuple[str, int]], now: datetime
) -> dict[str, Any]:
    """Return what it came to, as a document; ``results`` has a row for each stage."""
    last = max([step.at for step in mock.steps if step.kind == SUBMITTED] or [now])
    used = (last - mock.began).total_seconds() / 60
    in_time = [row for row in results if row["in_time"] and row["passed"]]
    return {
        "schema": 1,
        "mock": mock.number,
        "began": mock.began.isoformat(),
        "minutes": mock.plan.minutes,
        "used_minutes": round(min(used, mock.plan.minutes), 1),
        "overtime_minutes": round(max(0.0, used - mock.plan.minutes), 1),
        "feedback": mock.plan.feedback,
        "stages": list(results),
        "stages_in_time": len(in_time),
        "stages_passed": sum(row["passed"] for row in results),
        "questions": [{"id": card, "rating": rating} for card, rating in ratings],
    }
