"""Single key presses from a terminal, which is given back as it was."""

from __future__ import annotations

import os
import re
import signal
import sys
import termios
from typing import Any, Final, Self

_LOCAL_MODES, _CHARACTERS = 3, 6
# An arrow, a function key, a key with Alt, Escape itself.
_SEQUENCE: Final = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)
_END_OF_INPUT: Final = "\x04"


class Keyboard:
    """Standard input, a key at a time, where it is a terminal and this program is in its foreground."""

    def __init__(self, *, wanted: bool) -> None:
        try:
            self._descriptor = sys.stdin.fileno()
            self._there = wanted and os.isatty(self._descriptor)
        except (AttributeError, ValueError, OSError):
            self._descriptor, self._there = -1, False
        self._before: list[Any] | None = None

    def __enter__(self) -> Self:
        self.take()
        return self

    def __exit__(self, *_error: object) -> None:
        self.give_back()

    @property
    def listening(self) -> bool:
        """Whether keys can come."""
        return self._there and self._before is not None

    def fileno(self) -> int:
        """Return what to wait for."""
        return self._descriptor

    def take(self) -> None:
        """Get each key as it is pressed, without an echo; Ctrl-C and Ctrl-Z keep their meaning."""
        if not self._in_foreground():
            return
        modes = termios.tcgetattr(self._descriptor)
        if self._before is None:
            self._before = [*modes[:_CHARACTERS], list(modes[_CHARACTERS])]
        modes[_LOCAL_MODES] &= ~(termios.ECHO | termios.ICANON)
        modes[_CHARACTERS][termios.VMIN], modes[_CHARACTERS][termios.VTIME] = 1, 0
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, modes)

    def give_back(self) -> None:
        """Leave the terminal as it was."""
        if self._before is None:
            return
        before, self._before = self._before, None
        if not self._in_foreground():
            # The shell has it, with modes of its own.
            return
        try:
            # From a background that has just begun, this would stop the program.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, before)
        except termios.error:
            self._there = False  # the terminal was closed
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTTOU})

    def pressed(self) -> str:
        """Return the keys that were pressed, in lower case; none for an arrow or a function key."""
        try:
            data = os.read(self._descriptor, 64)
        except OSError:
            data = b""
        if not data:
            self._there = False
            return ""
        text = _SEQUENCE.sub("", data.decode(errors="ignore"))
        return text.replace(_END_OF_INPUT, "q").lower()

    def _in_foreground(self) -> bool:
        try:
            return self._there and os.tcgetpgrp(self._descriptor) == os.getpgrp()
        except OSError:
            return False
