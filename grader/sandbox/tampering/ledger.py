"""What was found, each with the line of the learner's file that did it."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from types import FrameType
from typing import Final

Finding = list[str | int]
"""A sentence and a line, as they travel."""

MOST: Final = 8
HARNESS: Final = str(Path(__file__).resolve().parent.parent.parent) + os.sep
_FOLDERS: Final = tuple(
    {
        *(os.path.realpath(sysconfig.get_paths()[name]) + os.sep for name in ("stdlib", "platstdlib", "purelib")),
        *(os.path.dirname(os.path.realpath(sys.modules[name].__file__ or "")) + os.sep for name in ("os", "torch")),
        *(entry + os.sep for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))),
        *("<frozen ", HARNESS),
    }
)

_this_frame, _str, _startswith = sys._getframe, str, str.startswith  # noqa: SLF001 - before anybody could patch them
_known: dict[str, bool] = {}


def is_installed(filename: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to the grader: everything else is the learner's."""
    found = _known.get(filename)
    if found is None:
        found = _known[filename] = _startswith(filename, _FOLDERS)
    return found


class Ledger:
    """The findings of one sandbox."""

    def __init__(self) -> None:
        self.filename = ""
        self.source = ""
        self._new: list[Finding] = []
        self._lasting: list[Finding] = []

    def note(self, sentence: str, line: int) -> None:
        """Write a finding down, once for each operation."""
        finding: Finding = [sentence, line]
        if finding not in self._new and len(self._new) < MOST:
            self._new.append(finding)

    def note_lasting(self, sentence: str, line: int) -> None:
        """Write down what is so from now on: it stands beside each later operation as well."""
        finding: Finding = [sentence, line]
        if finding not in self._lasting and len(self._lasting) < MOST:
            self._lasting.append(finding)

    def take(self) -> list[Finding]:
        """Return what was found since the last time, and what lasts."""
        found, self._new = self._new, []
        return self._lasting + found if self._lasting else found

    def line(self, frame: FrameType | None) -> int:
        """Return the line of the innermost frame of the learner's file, 0 for none."""
        while frame is not None:
            if frame.f_code.co_filename == self.filename:
                return frame.f_lineno
            frame = frame.f_back
        return 0
