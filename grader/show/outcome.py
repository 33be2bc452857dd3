"""A report in one line, for where many of them stand below each other."""

from typing import Any

from rich.text import Text

from grader.language import _
from grader.show.causes import FAILURES
from grader.show.colours import NOTE
from grader.show.verdict import head, skipped
from grader.text import clean

MARKS = {"passed": ("✓ ", "bold green"), "failed": ("✗ ", "bold red"), "error": ("! ", f"bold {NOTE}")}
Report = dict[str, Any]


def outcome(report: Report, *, whole: bool = True) -> Text:
    """Return the verdict and, where there is one, the reason."""
    line = Text.assemble(MARKS[report["verdict"]], head(report, whole=whole))
    if why := reason(report):
        line.append(f" · {why}")
    return line


def reason(report: Report) -> str:
    """Say in one line why an answer failed: what its page says first, or the first case that failed and where.

    Of a pass, what was skipped.
    """
    if report["message"]:
        return _first_line(report["message"])
    first = next(iter(report.get("causes", ())), None)
    if first and first["title"] and first["id"] != "seen":
        return _first_line(first["title"])
    if report["mistakes"]:
        return clean(report["mistakes"][0]["title"])
    failed = next((case for case in report["cases"] if case["outcome"] in FAILURES), None)
    if failed is None:
        return "; ".join(skipped(report["cases"]))
    sentence = _("{family}: {title}").format(family=clean(failed["family"]), title=clean(failed["title"]))
    return " ".join(part for part in (sentence, clean(failed["where"])) if part)


def _first_line(text: str) -> str:
    return clean(text).split("\n", 1)[0]
