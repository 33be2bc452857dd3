"""Which ways a file's functions go in a call: which statement runs after which."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from types import FrameType

MOST_TAKEN: Final = 2000
OUTSIDE: Final = 0
"""In the place of a line: before the first one of a function, and behind its last."""

# What an answer could patch, taken before it is loaded.
_settrace, _gettrace, _len = sys.settrace, sys.gettrace, len


class Ways:
    """Takes note of pairs of lines that run one after the other in one function of a file, while it is entered."""

    def __init__(self, filename: str) -> None:
        self.filename = filename
        self.taken: set[tuple[int, int]] = set()
        self._now: dict[int, int] = {}
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = _gettrace()
        _settrace(self._on_frame)
        return self

    def __exit__(self, *error: object) -> None:
        _settrace(self._before)

    def _on_frame(self, frame: FrameType, event: str, argument: Any) -> Any:
        del event, argument
        if frame.f_code.co_filename != self.filename or _len(self.taken) >= MOST_TAKEN:
            return None
        self._now[id(frame)] = OUTSIDE
        return self._on_line

    def _on_line(self, frame: FrameType, event: str, argument: Any) -> Any:
        del argument
        if event == "line":
            self.taken.add((self._now.get(id(frame), OUTSIDE), frame.f_lineno))
            self._now[id(frame)] = frame.f_lineno
        elif event == "return":
            self.taken.add((self._now.pop(id(frame), OUTSIDE), OUTSIDE))
        return self._on_line
