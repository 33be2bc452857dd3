"""Why cases fail, as the part of a report that explains; what goes wrong in explaining costs no verdict."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

from grader.judge.contract import Grading
from grader.judge.explain.bank import Bank
from grader.judge.explain.causes import causes
from grader.judge.explain.diagnose import diagnose
from grader.judge.explain.diagnosis import Diagnosis
from grader.judge.explain.facts import facts
from grader.judge.explain.locate.defaults import is_left_to_chance
from grader.judge.explain.repro import script
from grader.judge.runs.outcome import CaseOutcome

NOTHING: dict[str, Any] = {"causes": [], "mistakes": [], "facts": [], "repro": "", "unexplained": ""}


def explained(request: dict[str, Any], grading: Grading, outcomes: list[CaseOutcome], bank: Bank) -> dict[str, Any]:
    """Return these fields of a report. Where the search itself fails only ``unexplained`` says something: how."""
    try:
        return _explained(request, grading, outcomes, bank)
    except Exception as error:  # noqa: BLE001 - the verdict stands without its reasons, and the reader hears of it
        return NOTHING | {"unexplained": told(error)}


def _explained(request: dict[str, Any], grading: Grading, outcomes: list[CaseOutcome], bank: Bank) -> dict[str, Any]:
    shown = Path(request["filename"]).name
    wanted = request.get("explained", True)
    named = _named(request["source"], grading, outcomes, bank) if wanted and request.get("named", True) else []
    why = causes(outcomes, named, request["source"]) if wanted else []
    alike = [case for case in why[0].cases if _kind(case) == _kind(why[0].evidence)] if why and not named else []
    return {
        "causes": [cause.document(request["source"], shown, request["lang"]) for cause in why],
        "mistakes": [diagnosis.document(request["lang"]) for diagnosis in named],
        "facts": [fact.document() for fact in facts(alike)],
        "repro": script([cause.evidence for cause in why], outcomes, grading.kata.id, grading.seed, shown),
        "unexplained": "",
    }


def _named(source: str, grading: Grading, outcomes: list[CaseOutcome], bank: Bank) -> list[Diagnosis]:
    """Return the mistakes by their names; what a default drops has one cause, and hides all others."""
    asked = [case for case in outcomes if case.failure is None or not is_left_to_chance(case, source)]
    return diagnose(grading, asked, bank, source)


def _kind(case: CaseOutcome) -> str:
    return case.failure.kind if case.failure is not None else ""


def told(error: BaseException) -> str:
    """Return an error of our own in one line, with its way through the code."""
    steps = traceback.extract_tb(error.__traceback__)[-4:]
    where = " < ".join(f"{Path(step.filename).name}:{step.lineno}" for step in steps)
    return f"{type(error).__name__}: {error}".partition("\n")[0] + f" ({where})"
