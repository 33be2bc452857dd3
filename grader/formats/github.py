"""Commands of a GitHub workflow: annotations on the learner's lines, and the notices that GitHub Classroom reads."""

from __future__ import annotations

import json
from collections.abc import Iterable

from grader.formats.lines import Finding, findings
from grader.formats.rows import MOST_TEXT, Report, explanation, rows, total
from grader.language import _
from grader.text import clean


def github(reports: Iterable[tuple[Report, str]], points: int, *, explain: bool) -> str:
    """Return the commands for reports and the sources they are about; of an error of the grader none tells points."""
    found: list[str] = []
    earned, most = 0.0, 0
    for report, source in reports:
        if report["verdict"] == "error":
            title = _("The grader itself failed, not your answer.")
            found.append(_command("error", clean(report["message"], MOST_TEXT), title=title))
            continue
        found += [_annotation(one) for one in findings(report, source, explain=explain)]
        if explain and (text := explanation(report)):
            found.append(_command("notice", text, title=report["kata"]))
        earned += float(total(rows(report, points), 2))
        most += points
    if most:
        found += [
            _command("notice", f"Points {earned:g}/{most}", title="Autograding complete"),
            _command(
                "notice",
                json.dumps({"totalPoints": float(f"{earned:g}"), "maxPoints": most}),
                title="Autograding report",
            ),
        ]
    return "\n".join(found) + "\n"


def _annotation(one: Finding) -> str:
    return _command(one.severity, one.text, file=one.file, line=str(one.line), col=str(one.column), title=one.id)


def _command(name: str, message: str, **properties: str) -> str:
    shown = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
    return f"::{name} {shown}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
