"""The report of a grading, as ``docs/report.md`` describes it."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from typing import Any, Final

import torch

from grader import __version__
from grader.catalog import FAMILIES
from grader.judge.cases.levels import described
from grader.judge.runs.outcome import CaseOutcome
from grader.language import _
from grader.text import clean

LONGEST_PRINT: Final = 2000


def case_document(case: CaseOutcome, source: str, filename: str) -> dict[str, Any]:
    """Return one case as it stands in the report."""
    failure = case.failure
    line = failure.line if failure else 0
    return {
        "id": case.id,
        "family": case.family,
        "title": case.title,
        "about": case.case.about,
        "outcome": case.outcome,
        "kind": failure.kind if failure else case.skipped or "",
        "message": clean(failure.message, 1000) if failure else case.reason,
        "where": f"{filename}:{line}" if line else "",
        "line": line_of(source, line),
        "call": clean(failure.call, 400) if failure else "",
        "tolerance": failure.tolerance.document() if failure and failure.tolerance else None,
        "levels": dict(case.variant.levels),
        "needs": dict(case.needs) if case.needs is not None else None,
        "only": _("It fails only {levels}.").format(levels=described(case.needs)) if case.needs else "",
        "remarks": [
            {"message": text, "where": f"{filename}:{line}" if line else ""} for text, line in case.check.remarks
        ]
        if case.check
        else [],
        "printed": clean(case.printed, LONGEST_PRINT),
        "seconds": round(case.seconds, 4),
    }


def verdict(outcomes: Iterable[CaseOutcome], total: int) -> str:
    """Return the verdict of a grading that was to decide so many cases: the only place where one is said.

    It is "passed" where every one of them ran, whole, and passed. What is excused is excused by the machine; whatever
    was skipped, left out or lost for another reason is a failure.
    """
    outcomes = list(outcomes)
    decided = [case for case in outcomes if case.skipped != "machine"]
    passed = bool(decided) and len(outcomes) == total and all(case.outcome == "passed" for case in decided)
    return "passed" if passed else "failed"


def families(outcomes: Iterable[CaseOutcome]) -> dict[str, dict[str, int]]:
    """Count passed and total by family, in the order of grading."""
    counts: dict[str, dict[str, int]] = {}
    for case in outcomes:
        count = counts.setdefault(case.family, {"passed": 0, "total": 0})
        count["total"] += 1
        count["passed"] += case.outcome == "passed"
    return {family: counts[family] for family in FAMILIES if family in counts}


def versions() -> dict[str, str]:
    """Return what the grading ran on."""
    return {"kata": __version__, "torch": torch.__version__, "python": platform.python_version()}


def line_of(source: str, line: int) -> str:
    """Return the text of a line, made safe; nothing for none."""
    if line <= 0:
        return ""
    lines = source.splitlines()
    return clean(lines[line - 1].strip(), 200) if line <= len(lines) else ""
