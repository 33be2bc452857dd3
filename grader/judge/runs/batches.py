"""Which prepared runs are asked for, in which order, and which of them together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Final, TypeVar

from grader.judge.runs.outcome import Run
from grader.judge.runs.recording import Recording
from grader.transport.operations import Several

OPERATIONS_TOGETHER: Final = 30
"""So many operations travel together: a message costs both sides more than what is in it."""
FEW_ARE_ENOUGH: Final = 3
"""So many runs of a variant show whether it brings something new, where an answer has failed already."""

Ready = tuple[Run, Recording]
_Where = TypeVar("_Where", bound=Hashable)


def parted(runs: list[Run], recordings: list[Recording]) -> tuple[list[Ready], list[Ready]]:
    """Part the runs into those that are asked for ahead and those that repeat what they show."""
    numbers = {run.number for run in runs}
    ahead: list[Ready] = []
    left: list[Ready] = []
    for run, ready in sorted(((run, recordings[run.number - 1]) for run in runs), key=order):
        if ready.repeats and ready.repeats <= numbers:
            left.append((run, ready))
        else:
            ahead.append((run, ready))
    return ahead, left


def few(ahead: list[Ready], left: list[Ready], mains: dict[str, Run]) -> tuple[list[Ready], list[Ready]]:
    """Part the derived runs of an answer that has failed: a few of each variant, of cases that passed, and the others.

    The few are of those that are asked for ahead, where there are any.
    """
    variants: dict[tuple[str, str], list[Run]] = {}
    for pairs in (ahead, left):
        passing = [run for run, _ready in pairs if not fails(mains.get(run.outcome.case.stream))]
        for variant in {run.variant for run in passing} - variants.keys():
            members = [run for run in passing if run.variant == variant]
            variants[variant] = members[:: -(-len(members) // FEW_ARE_ENOUGH)]
    chosen = [run for members in variants.values() for run in members]
    every = sorted([*ahead, *left], key=order)
    return [pair for pair in every if pair[0] in chosen], [pair for pair in every if pair[0] not in chosen]


def order(pair: Ready) -> tuple[bool, bool]:
    """What is on the device comes last (see `worker_of`), and what takes long to judge before the rest of it."""
    run, ready = pair
    return run.outcome.family == "device", ready.is_straight


def fails(main: Run | None) -> bool:
    """Whether a case fails in a way that shows in what is derived from it: a changed input shows in its own run."""
    if main is None or main.outcome.outcome == "passed":
        return False
    return main.outcome.failure is None or main.outcome.failure.kind != "modified"


def together(runs: list[Ready], where: Callable[[Run], _Where]) -> Iterator[tuple[_Where, list[Ready]]]:
    """Yield groups of runs that go to one place and are asked for in one message, in an order that keeps theirs."""
    waiting: dict[_Where, list[Ready]] = {}
    for run, ready in runs:
        place = where(run)
        group = waiting.setdefault(place, [])
        group.append((run, ready))
        if sum(len(ready.messages) for _run, ready in group) >= OPERATIONS_TOGETHER:
            yield place, waiting.pop(place)
    yield from waiting.items()


def asked_by(runs: list[Ready]) -> Several:
    """Return all that these runs ask for, to be sent together."""
    return tuple(message for _run, recording in runs for message in recording.messages)
