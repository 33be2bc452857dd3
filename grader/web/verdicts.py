"""A verdict as the page gets it: what stands on it, and what stands at the lines of the editor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from grader.cli.afterwards import Passed
from grader.formats.lines import findings
from grader.formats.markup import together
from grader.show import causes
from grader.show.html import pieces
from grader.text import clean

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a grading said of a text."""

    source: str
    report: Document
    at: datetime
    after: Passed | None = None
    """The round that this pass has ended."""


def told(verdict: Verdict) -> Document:
    """Return a verdict in the reader's language."""
    report, after = verdict.report, verdict.after
    return {
        "kind": report["verdict"],
        "html": together(pieces(report, "", whole=True, level=2)),
        "marks": marks(report, verdict.source),
        "at": f"{verdict.at:%H:%M:%S}",
        "took": after.took if after else "",
        "rating": after.rating if after else 0,
        "when": after.when if after else "",
    }


def marks(report: Document, source: str) -> list[Document]:
    """Return what is wrong, by lines: known mistakes with what they mean and the push."""
    known = {(cause["title"], cause["line"]): cause for cause in causes.of(report) if cause["title"]}
    found = []
    for one in findings(report, source, explain=True):
        cause = next((cause for (title, _line), cause in known.items() if clean(title) == one.text), None)
        more = [cause["explain"], f"→ {cause['push']}" if cause["push"] else ""] if cause else []
        text = "\n".join(filter(None, map(clean, [one.text, *more])))
        found.append({"line": one.line, "severity": one.severity, "title": one.id, "text": text})
    return found
