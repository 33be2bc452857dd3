"""A report in a dozen rows: one for each family, one for each case of core that failed, and the points for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from grader.language import _
from grader.text import clean

Report = dict[str, Any]
Case = dict[str, Any]
FAILURES: Final = ("failed", "timeout", "crashed")
CORE: Final = "core"
MOST_TEXT: Final = 2000


@dataclass(frozen=True, slots=True)
class Row:
    """What a marking system shows as one test."""

    name: str
    passed: bool
    score: Fraction
    most: Fraction
    brief: str
    text: str
    seconds: float
    is_case: bool = False


def rows(report: Report, points: int) -> list[Row]:
    """Return the rows of a passed or failed report. Their scores sum up to `points` where it passed, else to less.

    Half of the points are for core, in proportion to its cases; the other half for the other families, alike and in
    proportion, once core has passed: what an answer costs or leaves alone is nothing before it computes something. A
    case that only repeats a failure and was not asked for counts nowhere, a case that did not run for another reason
    has not passed. The cases of core that failed have rows without points.
    """
    families: dict[str, list[Case]] = {}
    for case in report["cases"]:
        families.setdefault(case["family"], []).append(case)
    if not families:
        text = clean(report["message"], MOST_TEXT)
        brief = text.partition("\n")[0]
        return [Row(_("the file"), False, Fraction(0), Fraction(points), brief, text, report["seconds"])]
    shares = _shares(families, points)
    earned = {family: _share_passed(cases) for family, cases in families.items()}
    opened = earned.get(CORE, Fraction(1)) == 1
    found = []
    for family, cases in families.items():
        counts = opened or family == CORE
        found.append(_family(family, cases, earned[family] if counts else Fraction(0), shares[family], counts=counts))
        if family == CORE:
            found += [_case(case) for case in cases if case["outcome"] in FAILURES]
    return found


def total(found: Iterable[Row], digits: int) -> str:
    """Return the sum of the scores, rounded down: what has not passed is never all of the points."""
    return rounded(sum((row.score for row in found), Fraction(0)), digits)


def rounded(score: Fraction, digits: int) -> str:
    """Return a score with so many digits, rounded down."""
    whole, rest = divmod(score.numerator * 10**digits // score.denominator, 10**digits)
    return f"{whole}.{rest:0{digits}}" if digits else str(whole)


def explanation(report: Report) -> str:
    """Return the causes with their pushes, or what holds for the results: for `--explain`."""
    told = [
        f"{cause['explain']}\n→ {cause['push']}" if cause["explain"] else cause["evidence"]["steps"]
        for cause in report["causes"]
    ]
    return clean("\n".join(filter(None, told or [fact["explain"] for fact in report["facts"]])), MOST_TEXT)


def _shares(families: dict[str, list[Case]], points: int) -> dict[str, Fraction]:
    others = [family for family in families if family != CORE]
    if not others or CORE not in families:
        return dict.fromkeys(families, Fraction(points, len(families)))
    return {CORE: Fraction(points, 2)} | dict.fromkeys(others, Fraction(points, 2 * len(others)))


def _share_passed(cases: list[Case]) -> Fraction:
    wanted = _wanted(cases)
    passed = sum(case["outcome"] == "passed" for case in wanted)
    if not wanted:  # all of them repeat a failure, or none can run on this machine
        return Fraction(all(case.get("kind") == "machine" for case in cases))
    return Fraction(passed, len(wanted))


def _wanted(cases: list[Case]) -> list[Case]:
    excused = ("unasked", "machine")
    return [case for case in cases if case["outcome"] != "skipped" or case.get("kind") not in excused]


def _family(family: str, cases: list[Case], earned: Fraction, most: Fraction, *, counts: bool) -> Row:
    passed = sum(case["outcome"] == "passed" for case in cases)
    wanted = len(_wanted(cases))
    if wanted:
        brief = _("{passed} of {total} cases pass.").format(passed=passed, total=wanted)
    else:
        brief = _("No case ran: {reason}").format(reason=clean(cases[0]["message"], MOST_TEXT))
    told_first = "" if family == CORE else next((told(case) for case in cases if case["outcome"] in FAILURES), "")
    waits = "" if counts else _("This counts once core has passed.")
    text = clean("\n".join(filter(None, (brief, waits, told_first))), MOST_TEXT)
    seconds = sum(case["seconds"] for case in cases)
    return Row(family, _share_passed(cases) == 1, earned * most, most, brief, text, seconds)


def _case(case: Case) -> Row:
    name = f"{case['family']}: {clean(case['title'], 200)}"
    brief = clean(case["message"], MOST_TEXT).partition("\n")[0]
    return Row(name, False, Fraction(0), Fraction(0), brief, told(case), case["seconds"], is_case=True)


def told(case: Case) -> str:
    """Return the facts of a failed case: what was asked, what came, and on which line; no name of a mistake."""
    where = f"{case['where']}: {case['line']}" if case["line"] else case["where"]
    parts = (case["about"], case["call"], case["message"], case.get("only", ""), where)
    return clean("\n".join(part for part in parts if part), MOST_TEXT)
