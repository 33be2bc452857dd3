"""What the system tells a program that has a terminal to itself."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, Final, Self

_ENDS: Final = (signal.SIGTERM, signal.SIGHUP)


class Signals(AbstractContextManager["Signals"]):
    """Handlers for a resized, stopped, continued and ended program; the former ones come back in the end."""

    def __init__(
        self, *, resized: Callable[[], None], stopping: Callable[[], None], continued: Callable[[], None]
    ) -> None:
        """`stopping` runs before the program stops, in the main thread; so do the others, whatever it is doing."""
        self._stopping = stopping
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {
            signal.SIGWINCH: lambda _number, _frame: resized(),
            signal.SIGCONT: lambda _number, _frame: continued(),
            signal.SIGTSTP: self._stop,
            **dict.fromkeys(_ENDS, self._end),
        }
        self._former: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number, handler in self._handlers.items():
            # Who starts us with a signal ignored (nohup, a shell without job control) wants it so.
            if signal.getsignal(number) != signal.SIG_IGN:
                self._former[number] = signal.signal(number, handler)
        return self

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self._stopping()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # here the program stops, and here it goes on
        signal.signal(number, self._stop)

    def _end(self, number: int, _frame: FrameType | None) -> None:
        # An exception, so that the terminal is given back and the judge ends.
        raise SystemExit(128 + number)
