"""Why an answer fails: each cause with its line, the push and one case as its evidence; the rest in a line each."""

import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.language import _, plural
from grader.show import pictures
from grader.show.colours import PLACE
from grader.show.paragraphs import first_line, indented, paragraph
from grader.text import clean

FAILURES = ("failed", "timeout", "crashed")
NARROW = 50
SHORTEST_TITLE = 20
ROOM = 22
"""So many lines of a page are for the causes: the first one as whole as it fits, the next ones while there is room."""
IN_BRIEF = 3
"""So many are shown with their line and the push; the others in a line each."""
MOST_BESIDE = 4
MOST_LINES = {"seen": 2, "call": 2, "message": 3, "explain": 4, "picture": 1}
SHORTER = tuple(dict.fromkeys(MOST_LINES, most) | {"picture": 0} for most in (4, 3, 2, 1))
BRIEF = dict.fromkeys(MOST_LINES, 2)
UNCUT = dict.fromkeys(MOST_LINES, 0) | {"picture": 1}

Report = dict[str, Any]
Case = dict[str, Any]
Cause = dict[str, Any]


def of(report: Report) -> list[Cause]:
    """Return the causes of a report; of one without them, an old one or that of a debug round, what its cases show."""
    return report.get("causes") or list(_made(report))


def show(console: Console, report: Report, *, full: bool) -> None:
    """Show why an answer fails; ``full``: all causes with all that is known of them, and every case."""
    causes = of(report)
    cases = {case["id"]: case for case in report["cases"]}
    facts = [fact["explain"] for fact in report.get("facts", [])]
    if full:
        for at, cause in enumerate(causes):
            _cause(console, cause, cases, facts if at == 0 else [], UNCUT, brief=False)
        _every(console, report)
        return
    beside, left = causes[1:], ROOM - min(MOST_BESIDE + 1, len(causes) - 1)
    for most in (MOST_LINES, *SHORTER):
        taken = _height(console, partial(_cause, cause=causes[0], cases=cases, facts=facts, most=most, brief=False))
        if taken <= left:
            break
    _cause(console, causes[0], cases, facts, most, brief=False)
    for cause in causes[1:IN_BRIEF]:
        left -= taken
        taken = _height(console, partial(_cause, cause=cause, cases=cases, facts=[], most=BRIEF, brief=True))
        if taken > left:
            break
        _cause(console, cause, cases, [], BRIEF, brief=True)
        beside = beside[1:]
    if beside:
        console.print()
    for cause in beside[:MOST_BESIDE]:
        _beside(console, cause, cases)
    if more := len(beside[MOST_BESIDE:]):
        sentence = plural("and {count} more cause: --full", "and {count} more causes: --full", more)
        console.print(Text(sentence.format(count=more), style="dim"))


def _height(console: Console, draw: Callable[[Console], None]) -> int:
    """Return how many lines something takes on a console."""
    plain: dict[str, Any] = {"color_system": None, "highlight": False, "markup": False, "emoji": False}
    paper = Console(file=io.StringIO(), width=console.width, force_jupyter=False, **plain)
    with paper.capture() as captured:
        draw(paper)
    return captured.get().count("\n")


def _cause(
    console: Console, cause: Cause, cases: dict[str, Case], facts: list[str], most: dict[str, int], *, brief: bool
) -> None:
    evidence = cause["evidence"]
    case = cases.get(evidence["case"], {})
    console.print()
    title = title_of(cause, case)
    is_case = cause["id"] == "seen" and title == clean(case.get("title", ""))
    _title(console, title, cause["where"], case.get("family", "") if is_case else "")
    if cause["code"]:
        paragraph(console, f"> {clean(cause['code']).strip()}", PLACE, most=1)
    if not brief and is_case:
        paragraph(console, case.get("about", ""), "dim", most=most["call"])
    paragraph(console, cause["explain"], "bold", most=most["explain"])
    if cause["push"]:
        paragraph(console, f"→ {cause['push']}", "bold", most=most["explain"])
    paragraph(console, evidence["steps"], most=most["explain"])
    if brief and (cause["explain"] or evidence["steps"]):
        return
    if not brief:
        paragraph(console, where_seen(cause, case), "dim", most=most["seen"])
        paragraph(console, evidence["call"], "dim", most=most["call"])
    paragraph(console, message_of(cause), most=most["message"])
    if evidence.get("picture") and most["picture"]:
        pictures.show(console, evidence["picture"])
    paragraph(console, case.get("only", ""), "bold", most=most["call"])
    for fact in facts:
        paragraph(console, fact, "bold", most=most["call"])


def title_of(cause: Cause, case: Case) -> str:
    """Return what a cause is called: by the mistake, else by the case that shows it."""
    return clean(cause["title"] or case.get("title", "") or cause["evidence"]["case"])


def message_of(cause: Cause) -> str:
    """Return what went wrong in the case that shows a cause; empty where the title says it."""
    message: str = cause["evidence"]["message"]
    return message if message != cause["title"] else ""


def _title(console: Console, title: str, where: str, family: str) -> None:
    head = Text.assemble(("✗ ", "bold red"), (f"{clean(family)}  " if family else "", "red"), (title, "bold"))
    if where and console.width >= NARROW:
        line = Table.grid(expand=True, padding=(0, 0, 0, 2))
        line.add_column(ratio=1)
        line.add_column(no_wrap=True)
        line.add_row(head, Text(clean(where), style="magenta"))
        console.print(line)
    else:
        console.print(head)
        paragraph(console, where, PLACE)


def where_seen(cause: Cause, case: Case) -> str:
    """Say in which cases it shows."""
    others = len(cause["cases"]) - 1
    is_said = cause["id"] == "seen" and cause["title"] == case.get("title", "")  # by its title
    if is_said and not others:
        return ""
    title = f"{case.get('family', '')} · {case.get('title', '')}" if case else cause["evidence"]["case"]
    if is_said:
        return plural("and in {count} more case", "and in {count} more cases", others).format(count=others)
    if not others:
        return _("seen in {case}").format(case=clean(title))
    sentence = plural("seen in {case} and {count} more case", "seen in {case} and {count} more cases", others)
    return sentence.format(case=clean(title), count=others)


def _beside(console: Console, cause: Cause, cases: dict[str, Case]) -> None:
    """Name a cause in one line; where that is too long the title is cut, not the place."""
    case = cases.get(cause["evidence"]["case"], {})
    count = len(cause["cases"])
    line, tail = Text.assemble(("✗ ", "red"), title_of(cause, case)), Text()
    if cause["where"]:
        tail.append(f"  {clean(cause['where'])}", PLACE)
    if count > 1:
        tail.append(" · " + plural("{count} case", "{count} cases", count).format(count=count), "dim")
    line.truncate(max(console.width - tail.cell_len, SHORTEST_TITLE), overflow="ellipsis")
    line.append_text(tail)
    if cause["id"] == "seen" and message_of(cause):
        line.append(f"  {first_line(message_of(cause))}", "dim")
    console.print(line, no_wrap=True, overflow="ellipsis")


def _every(console: Console, report: Report) -> None:
    """Name every failing case."""
    console.print()
    for case in report["cases"]:
        if case["outcome"] in FAILURES:
            line = Text.assemble(("✗ ", "red"), (clean(case["family"]), "red"), "  ", clean(case["title"]))
            if case["where"]:
                line.append(f"  {clean(case['where'])}", PLACE)
            indented(console, line, 0)
            paragraph(console, case["message"], "dim")


def _made(report: Report) -> Iterator[Cause]:
    """Make causes of cases: mistakes that are named first, then what fails in one way at one line."""
    failing = [case for case in report["cases"] if case["outcome"] in FAILURES]
    for mistake in report.get("mistakes", [])[:1]:
        its = [case for case in failing if case["id"] in mistake["cases"]] or failing[:1]
        failing = [case for case in failing if case not in its]
        texts = {"title": mistake.get("title", ""), "explain": mistake["explain"], "push": mistake["nudge"]}
        yield _seen(its, {"id": mistake.get("id", ""), **texts})
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in failing:
        groups.setdefault((case["where"], case.get("kind", "") or case["message"]), []).append(case)
    for cases in groups.values():
        yield _seen(cases, {"id": "seen", "title": "", "explain": "", "push": ""})


def _seen(cases: list[Case], texts: dict[str, str]) -> Cause:
    first = cases[0]
    evidence = {"case": first["id"], "steps": "", "message": first["message"], "call": first["call"]}
    place = {"line": 0, "lines": [], "where": first["where"], "code": first["line"]}
    return {**texts, **place, "evidence": evidence, "cases": [case["id"] for case in cases]}
