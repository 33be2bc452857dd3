"""What was found, each with the line of the learner's file that did it."""

from __future__ import annotations

from types import FrameType, ModuleType
from typing import Any, Final

from grader.sandbox.tampering import namespaces

Finding = list[str | int]
"""A sentence and a line, as they travel."""

MOST: Final = 8
# What an answer could patch, taken before it is loaded.
_changes, _watched = namespaces.changes, namespaces.watched


class Ledger:
    """The findings of one sandbox, and what it compares in order to find some."""

    def __init__(self) -> None:
        self.filename = ""
        self.source = ""
        self._modules: list[ModuleType] = []
        self._spaces: list[Any] = []
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

    def watch(self, modules: list[ModuleType]) -> None:
        """Compare namespaces from now on, among them these modules of the harness."""
        self._modules = modules
        self.renew()

    def renew(self) -> None:
        """Take everything as it is now for what it should be."""
        if self._modules:
            self._spaces = _watched(self._modules)

    def compare(self) -> None:
        """Write down what is no longer what it was."""
        for sentence, line in _changes(self._spaces, self.source):
            self.note_lasting(sentence, line)
