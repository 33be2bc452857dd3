"""The report of a grading that told nothing about the answer: one that broke, or whose file is no text."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

from grader import __version__
from grader.errors import KataError, NotUtf8
from grader.language import _
from grader.transport.request import SCHEMA, Request


def error_report(request: Request, error: KataError) -> dict[str, Any]:
    """Return the report of a grading that broke."""
    return {
        "schema": SCHEMA,
        "kata": request.kata,
        "file": request.filename,
        "verdict": "error",
        "message": error.in_one_line(),
        "cases": [],
        "causes": [],
        "mistakes": [],
        "facts": [],
        "unexplained": "",
        "spent": {},
        "families": {},
        "printed": "",
        "seed": request.seed,
        "seconds": 0.0,
        "sandbox": [],
        "sandbox_gaps": [],
        "device": request.device or "cpu",
        "repro": "",
        "versions": {"kata": __version__, "torch": "", "python": platform.python_version()},
    }


def refused(request: Request, error: KataError) -> dict[str, Any]:
    """Return the report of an answer that cannot be read as one: it failed, before anything ran."""
    return error_report(request, error) | {"verdict": "failed"}


def unreadable(request: Request, error: NotUtf8) -> dict[str, Any]:
    """Return the report of an answer that is no UTF-8 text: it failed, as one that Python cannot parse does."""
    sentence = _("{file}:{line}: the file is not UTF-8 text, here is the byte 0x{byte:02x}. {hint}")
    name = Path(request.filename).name
    message = sentence.format(file=name, line=error.line, byte=error.byte, hint=error.hint)
    return refused(request, error) | {"message": message}
