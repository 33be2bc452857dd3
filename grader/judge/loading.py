"""What is said of a file that does not load, or lacks what the kata asks for: one message in the place of all cases."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Final

from grader.judge.failure import Failure, unreadable
from grader.language import _
from grader.text import cells, clean
from grader.transport.wire import WireError, strings

MOST_NAMES: Final = 8
MOST_COLUMNS: Final = 64
_SYNTAX_ERRORS: Final = ("SyntaxError", "IndentationError", "TabError")
_MAGIC: Final = re.compile(r"\s*(%%?[a-zA-Z]|!)")


def undefined(reply: dict[str, Any], entries: Sequence[str], filename: str) -> Failure | None:
    """Return the failure of a file in which none of these names is defined, or one under a name that is nearly it.

    Where some of several are there, their cases can run.
    """
    try:
        missing, found = (strings(reply.get(name), 10_000) for name in ("missing", "found"))
    except WireError as error:
        return unreadable(str(error))
    missing = [name for name in entries if name in missing]
    found = [clean(name, 80) for name in found if name not in entries]
    guesses = {name: near for name in missing if (near := _nearest(name, found))}
    if not missing or (len(missing) < len(entries) and not guesses):
        return None
    names = _(", ").join(missing)
    if not found:
        sentence = _("{file} defines no {names}: it defines nothing")
        return Failure("undefined", sentence.format(file=filename, names=names))
    there = _(", ").join(found[:MOST_NAMES]) + (" …" if len(found) > MOST_NAMES else "")
    message = _("{file} defines no {names}; what it defines: {there}").format(file=filename, names=names, there=there)
    for name, near in guesses.items():
        message += _(". Did you mean {near}? Call it {name}").format(near=near, name=name)
    return Failure("undefined", message)


def _nearest(name: str, found: Iterable[str]) -> str:
    plain = {other.lower().replace("_", ""): other for other in found}
    near = difflib.get_close_matches(name.lower().replace("_", ""), plain, n=1)
    return plain[near[0]] if near else ""


def explained(failure: Failure, source: str, filename: str) -> Failure:
    """Return the failure of a file that was not loaded in words that say what to do about it."""
    line = _line(source, failure.line)
    if _is_notebook(source):
        failure.message = _(
            "{file} is a notebook, not a Python file: export it (`jupyter nbconvert --to script` does that, and so "
            "does the menu of an editor) and grade the .py file"
        ).format(file=filename)
        failure.kind, failure.line = "load-notebook", 0
    elif failure.message.startswith(_SYNTAX_ERRORS) and _MAGIC.match(line):
        failure.message = _(
            "line {line} is a command for a notebook, which Python does not know: {text}. Take out the lines that "
            "begin with % or !"
        ).format(line=failure.line, text=clean(line.strip(), 80))
        failure.kind = "load-notebook"
    elif "name 'get_ipython' is not defined" in failure.message:
        failure.message = _(
            "line {line} calls get_ipython, which only a notebook has: take out what its commands with % or ! became"
        ).format(line=failure.line)
        failure.kind = "load-notebook"
    elif failure.kind != "undefined":
        sentence = _("the file does not load: {problem}")
        is_syntax = failure.message.startswith(_SYNTAX_ERRORS)
        failure.message = sentence.format(problem=failure.message) + (
            _pointed_at(source, filename) if is_syntax else ""
        )
        failure.kind = f"load-{failure.kind}"
    return failure


def _is_notebook(source: str) -> bool:
    return source.lstrip("\ufeff \t\r\n").startswith("{") and '"cells"' in source and '"nbformat"' in source


def _line(source: str, number: int) -> str:
    lines = source.splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _pointed_at(source: str, filename: str) -> str:
    """Return the line of a syntax error with a caret below the place, to be put behind a message."""
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(source, filename, "exec", dont_inherit=True)
    except SyntaxError as error:
        return _with_caret(error.text, error.offset)
    except (ValueError, MemoryError, RecursionError):
        return ""
    return ""


def _with_caret(text: str | None, offset: int | None) -> str:
    if not text or not text.strip() or not offset or offset < 1:
        return ""
    text = text.rstrip().replace("\t", " ")
    start = len(text) - len(text.lstrip())
    start = max(start, offset - MOST_COLUMNS)
    before, line = clean(text[start : offset - 1]), clean(text[start : start + MOST_COLUMNS + 10])
    return f"\n    {line}\n    {' ' * cells(before)}^"
