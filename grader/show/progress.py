"""The line that moves while a grading runs. Only a terminal gets one; a pipe and a log get none."""

import os
import shutil
import sys
from typing import Any, Self

from grader.language import _
from grader.text import cells, clean


class Progress:
    """A line on standard error that is rewritten as cases end and gone at the end."""

    def __init__(self, kata: str) -> None:
        self._kata = kata
        self._done = self._failed = 0
        self._total = 0
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def __enter__(self) -> Self:
        self._write(_("{kata}: starting torch …").format(kata=self._kata))
        return self

    def __exit__(self, *_error: object) -> None:
        self._write("")

    def __call__(self, event: dict[str, Any]) -> None:
        """Take an event of the session: the plan, or how far it got."""
        if event["event"] == "plan":
            self._total = event["total"]
            title = ""
        elif event["event"] == "progress":
            self._done, self._failed = event["done"], event["failed"]
            title = clean(event["title"], 60)
        elif event["event"] in ("training", "explaining"):
            told = training(event) if event["event"] == "training" else explaining(event, self._total)
            self._write(f"{self._kata}: {told}")
            return
        else:
            return
        line = _("{kata}: case {done} of {total}").format(kata=self._kata, done=self._done, total=self._total)
        if self._failed:
            line += _(", {failed} failed").format(failed=self._failed)
        self._write(f"{line} · {title}" if title else line)

    def _write(self, line: str) -> None:
        if self._live:
            own = os.get_terminal_size(sys.stderr.fileno())  # a pipe may take the results, and has no width
            width = shutil.get_terminal_size(fallback=own).columns - 1
            while cells(line) > width:
                line = line[:-1]
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()


def training(event: dict[str, Any]) -> str:
    """Say how far a training is."""
    sentence = _("training, step {step} of {steps}, loss {loss:.3f}")
    return sentence.format(step=event["step"], steps=event["steps"], loss=event["loss"])


def explaining(event: dict[str, Any], total: int) -> str:
    """Say that all cases are decided, and that the judge looks for the cause."""
    return _("{failed} of {total} cases fail, looking for the cause …").format(failed=event["failed"], total=total)
