"""A line for each cause, `mha.py:31:5: error: what is wrong [name]`: what editors read as problems."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from grader import catalog
from grader.formats.rows import FAILURES, Report
from grader.language import _
from grader.text import clean

BEGINS: Final = "kata: grading"
ENDS: Final = "kata: graded"
"""What stands before and behind the lines of a grading, in every language: tasks.json has both as expressions."""
MOST: Final = 20
MOST_TEXT: Final = 300
_PLACE: Final = re.compile(r":(\d+)\Z|:(\d+):|\b(?:line |第 ?)(\d+)")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, and where."""

    file: str
    line: int
    column: int
    severity: str
    text: str
    id: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.text} [{self.id}]"


def lines(report: Report, source: str) -> str:
    """Return the lines of a report about this source: none where it passed."""
    return "".join(f"{one}\n" for one in findings(report, source, explain=True))


def findings(report: Report, source: str, *, explain: bool) -> list[Finding]:
    """Return what is wrong, each thing once and at most twenty: the causes, where explanations are wanted and known.

    Else the cases that failed, one for each line and message. What has no line of its own is shown where the answer's
    first entry is defined.
    """
    if report["verdict"] == "error":
        return [_finding(report, source, 1, _first(report["message"]), "grader", severity="warning")]
    if report["verdict"] == "passed":
        return []
    if report["message"] or not report["cases"]:
        return [_finding(report, source, _line_in(report["message"]), _first(report["message"]), "file")]
    if explain and report["causes"]:
        return [_cause(report, source, cause) for cause in report["causes"]][:MOST]
    seen: set[tuple[str, str]] = set()
    found = []
    for case in (case for case in report["cases"] if case["outcome"] in FAILURES):
        key = (case["where"], _first(case["message"])) if case["where"] else ("", "")
        if key not in seen:
            seen.add(key)
            text = f"{case['title']}: {_first(case['message'])}"
            found.append(_finding(report, source, _line_in(case["where"]), text, case["id"]))
    return found[:MOST]


def _cause(report: Report, source: str, cause: dict[str, Any]) -> Finding:
    """Return a known mistake by its name; of a place the steps that lead there, else what was seen."""
    evidence = cause["evidence"]
    if cause["title"] and cause["id"] != "seen":
        return _finding(report, source, cause["line"], cause["title"], cause["id"])
    return _finding(report, source, cause["line"], evidence["steps"] or evidence["message"], evidence["case"])


def _finding(report: Report, source: str, line: int, text: str, name: str, *, severity: str = "error") -> Finding:
    line = line or _defined(report["kata"], source)
    texts = source.splitlines()
    shown = texts[line - 1] if line <= len(texts) else ""
    column = len(shown) - len(shown.lstrip()) + 1 if shown.strip() else 1
    name = re.sub(r"[^\w./-]+", "-", name).strip("-")
    return Finding(report["file"], line, column, severity, _first(text), name)


def _defined(kata_id: str, source: str) -> int:
    """Return the line that defines the first entry of a kata, 1 where none does."""
    names = "|".join(map(re.escape, catalog.find(kata_id).entry))
    found = re.search(rf"(?m)^(?:class|def|async def)\s+(?:{names})\b|^(?:{names})\s*=", source)
    return source.count("\n", 0, found.start()) + 1 if found else 1


def _line_in(text: str) -> int:
    found = _PLACE.search(text.partition("\n")[0])
    return int(next(filter(None, found.groups()))) if found else 0


def _first(text: str) -> str:
    return clean(text, MOST_TEXT).partition("\n")[0] or _("it failed")
