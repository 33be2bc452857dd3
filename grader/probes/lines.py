"""The statements that a file runs during a call, and what its names stand for after each of them.

Numbers, texts and what holds them are written down as texts, so that two programs can be compared by them whatever they
call things and whichever containers they take; a tensor stands there as the number of the step that made it.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

MOST_PASSED: Final = 3000
MOST_LOOKED_AT: Final = 400_000
"""So many numbers and texts are written down in all."""
MOST_HELD: Final = 400
"""What holds more than so much is not written down."""
LONGEST: Final = 1500
DEEPEST: Final = 6
UNKNOWN: Final = "\x01"
"""Stands for what is not written down; no text of Python's has it, which escapes it."""
RESULT: Final = "return"
"""In the place of a name: what a function returned."""

# What an answer could patch, taken before it is loaded.
_type, _len, _sorted, _str, _repr = type, len, sorted, str, repr
_Tensor, _isinstance = torch.Tensor, isinstance
_SEQUENCES: Final = (list, tuple, deque)
_MAPPINGS: Final = (dict, Counter, OrderedDict, defaultdict)
_SETS: Final = (set, frozenset)


@dataclass(slots=True)
class Passed:
    """A statement that ran."""

    frame: int
    """The number of the call of a function that it belongs to."""
    line: int
    caller: int
    """The number of the statement that called this function, -1 for none of the file."""
    made: dict[str, str] = field(default_factory=dict)
    """The names that stand for something else since then, and for what."""


@dataclass(slots=True)
class _Running:
    number: int
    caller: int
    bound: dict[str, str]
    now: int = -1


class Lines:
    """Takes note of statements as a trace function sees them."""

    def __init__(self, number_of: Callable[[torch.Tensor], int | None]) -> None:
        """``number_of``: returns the number of the step that made a tensor."""
        self.passed: list[Passed] = []
        self.executed: set[int] = set()
        self._number_of = number_of
        self._running: dict[int, _Running] = {}
        self._stack: list[_Running] = []
        self._frames = 0
        self._left = MOST_LOOKED_AT

    @property
    def now(self) -> int:
        """The number of the statement that runs, -1 where it is none of those noted."""
        return self._stack[-1].now if self._stack else -1

    def enter(self, frame: FrameType) -> None:
        """A function begins."""
        caller = self.now
        self._frames += 1
        running = _Running(self._frames, caller, {})
        self._running[id(frame)] = running
        self._stack.append(running)
        running.now = self._add(running, frame.f_code.co_firstlineno)
        self._settle(running, frame)

    def line(self, frame: FrameType) -> None:
        """A statement is about to run; the one before it has."""
        self.executed.add(frame.f_lineno)
        running = self._running.get(id(frame))
        if running is not None:
            self._settle(running, frame)
            running.now = self._add(running, frame.f_lineno)

    def leave(self, frame: FrameType, result: Any) -> None:
        """A function ends."""
        running = self._running.pop(id(frame), None)
        if running is None:
            return
        self._settle(running, frame)
        if 0 <= running.now < _len(self.passed):
            self.passed[running.now].made[RESULT] = self._written(result)
        if running in self._stack:
            self._stack.remove(running)

    def _add(self, running: _Running, line: int) -> int:
        if _len(self.passed) >= MOST_PASSED or self._left <= 0:
            return -1
        self.passed.append(Passed(running.number, line, running.caller))
        return _len(self.passed) - 1

    def _settle(self, running: _Running, frame: FrameType) -> None:
        """Write down what the statement that ran last has changed."""
        if running.now < 0 or self._left <= 0:
            return
        made = self.passed[running.now].made
        for name, value in list(frame.f_locals.items()):
            text = self._written(value)
            if running.bound.get(name) != text:
                running.bound[name] = made[name] = text

    def _written(self, value: Any) -> str:
        try:
            text = self._text(value, 0)
        except (ValueError, RecursionError):
            return UNKNOWN
        return text if _len(text) <= LONGEST else UNKNOWN

    def _text(self, value: Any, depth: int) -> str:
        self._left -= 1
        kind = _type(value)
        if value is None or kind is bool or kind is int:
            return _str(value)
        if kind is float:
            return f"{value:.9g}"
        if kind is str:
            return _repr(value[:80])
        if _isinstance(value, _Tensor):
            number = self._number_of(value)
            return UNKNOWN if number is None else f"#{number}"
        if callable(value):
            return "()"
        if kind is slice:
            return self._text([value.start, value.stop, value.step], depth + 1)
        if depth >= DEEPEST or kind not in (*_SEQUENCES, *_MAPPINGS, *_SETS) or _len(value) > MOST_HELD:
            return UNKNOWN
        if kind in _MAPPINGS:
            pairs = _sorted((self._text(key, depth + 1), self._text(item, depth + 1)) for key, item in value.items())
            return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
        items = [self._text(item, depth + 1) for item in value]
        return "[" + ", ".join(_sorted(items) if kind in _SETS else items) + "]"
