"""What crosses between the simulated device and the host, and what to think of it."""

from __future__ import annotations

import contextlib
import inspect
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from grader.probes.frames import line_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Kind = Literal["h2d", "d2h", "item", "sync"]


@dataclass(frozen=True)
class Event:
    """One crossing: `h2d` and `d2h` copies, `item` reads of one number, `sync` where a shape depends on data."""

    kind: Kind
    op: str
    shape: tuple[int, ...]
    numel: int
    line: int  # in the watched file, 0 where no frame of it is on the stack
    excused: bool  # print() and repr() copy what they show; packing asks for lengths on the CPU


@dataclass(frozen=True)
class Finding:
    """What a learner is told about the events of one line."""

    kind: Kind
    line: int
    shape: tuple[int, ...]
    count: int
    message: str


# PyTorch's own: what is printed comes to the CPU, the order of a packed batch goes to the device
_COPY_BY_THEMSELVES = ("_tensor_str.py", "nn/utils/rnn.py")

_watches: list[tuple[str, list[Event]]] = []
_muted = 0


@contextlib.contextmanager
def watch(filename: str) -> Iterator[list[Event]]:
    """Collect the events of the block; their lines are those of `filename`, the learner's file."""
    entry: tuple[str, list[Event]] = (filename, [])
    _watches.append(entry)
    try:
        yield entry[1]
    finally:
        # by identity: two logs without events are equal
        _watches[:] = [other for other in _watches if other is not entry]


@contextlib.contextmanager
def muted() -> Iterator[None]:
    """Keep the grader's own copies out of the logs."""
    global _muted  # noqa: PLW0603 - one switch for the process, like the logs
    _muted += 1
    try:
        yield
    finally:
        _muted -= 1


def note(kind: Kind, op: str, shape: Iterable[int] = ()) -> None:
    """Write an event into every open log."""
    if not _watches or _muted:
        return
    sizes = tuple(shape)
    frame = inspect.currentframe()
    for filename, events in _watches:
        excused = False
        walk = frame
        while walk is not None and walk.f_code.co_filename != filename:
            excused = excused or walk.f_code.co_filename.endswith(_COPY_BY_THEMSELVES)
            walk = walk.f_back
        events.append(Event(kind, op, sizes, math.prod(sizes), line_of(filename, frame), excused))


def excuse(kind: Kind, shape: Iterable[int]) -> None:
    """Excuse the newest event of a kind and shape in every open log: an operator asked for that copy."""
    sizes = tuple(shape)
    for _, events in _watches:
        for place in reversed(range(len(events))):
            if (events[place].kind, events[place].shape) == (kind, sizes):
                events[place] = replace(events[place], excused=True)
                break


def judge_events(events: Iterable[Event], most: int = 1) -> tuple[list[Finding], list[Finding]]:
    """Return (failures, remarks), one finding for each line and kind, in order of appearance.

    A copy of more than ``most`` elements to the host fails. A smaller one, a tensor copied to the device and a shape
    that depends on data are remarks; what print() or a packed batch asks for, and one element copied to the device,
    are nothing.
    """
    failures: dict[tuple[Kind, int], list[Event]] = {}
    remarks: dict[tuple[Kind, int], list[Event]] = {}
    for event in events:
        if event.excused or (event.kind == "h2d" and event.numel <= 1):
            continue
        fails = event.kind == "d2h" and event.numel > most
        (failures if fails else remarks).setdefault((event.kind, event.line), []).append(event)
    return [_finding(group) for group in failures.values()], [_finding(group) for group in remarks.values()]


def _finding(group: list[Event]) -> Finding:
    worst = max(group, key=lambda event: event.numel)
    return Finding(worst.kind, worst.line, worst.shape, len(group), _message(worst))


def _message(event: Event) -> str:
    if event.kind == "d2h" and event.numel > 1:
        return (
            f"a tensor of shape {event.shape} is copied from the device to the CPU (.cpu(), .to('cpu'), .tolist(), "
            ".numpy(), or a write into a tensor on the CPU)"
        )
    if event.kind in ("item", "d2h"):
        return "a single value is read from the device (.item(), float(), bool() or `if`): the device has to wait"
    if event.kind == "h2d":
        return (
            f"a tensor of shape {event.shape} is copied from the CPU to the device at each call: "
            "create it there (device=x.device) or register it as a buffer"
        )
    what = "indexing with a bool mask" if "index" in event.op else event.op
    return f"{what} makes a tensor whose shape depends on the data: the device has to wait"
