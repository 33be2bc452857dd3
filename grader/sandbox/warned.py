"""Warnings name the learner's line that brings them about, not the probe through which PyTorch was called."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import TextIO


def at_the_line_of(answer: str) -> None:
    """Show each warning from now on at the innermost line of the answer's file that runs, where there is one."""
    shown = warnings.showwarning

    def showwarning(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - CPython's only way to the frames outside of an exception
        while frame is not None and frame.f_code.co_filename != answer:
            frame = frame.f_back
        if frame is not None:
            filename, lineno = answer, frame.f_lineno
        shown(message, category, filename, lineno, file, line)

    warnings.showwarning = showwarning
