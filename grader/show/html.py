"""A verdict as a page of HTML, to keep or to send: the causes first, then every failing case, and the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from grader.formats.markup import (
    block,
    counts,
    document,
    entry,
    folded,
    fragment,
    heading,
    numbered,
    numbers,
    paragraph,
    section,
    side_by_side,
    together,
)
from grader.language import _, current, plural
from grader.show import causes, pictures
from grader.show.causes import FAILURES
from grader.show.verdict import fraction, head, skipped

Report = dict[str, Any]
Case = dict[str, Any]

MARKS: Final = {"passed": "✓", "failed": "✗", "error": "!"}
LANGUAGES: Final = {"en": "en", "zh": "zh-Hans"}
MOST_PRINTED: Final = 4


def page(report: Report, source: str = "", *, whole: bool = True) -> str:
    """Return the page of a report in the reader's language; ``source`` is the file, which it shows with its lines."""
    title = f"{MARKS[report['verdict']]} {report['kata']}"
    return document(LANGUAGES[current()], title, pieces(report, source, whole=whole))


def within(report: Report, source: str, notes: Sequence[str], *, whole: bool) -> str:
    """Return the same for a page that shows more, such as a notebook; ``notes`` stand at its end."""
    told = [*pieces(report, source, whole=whole), *map(paragraph, notes)]
    return fragment(LANGUAGES[current()], told)


def pieces(report: Report, source: str, *, whole: bool, level: int = 1) -> Iterator[str]:
    """Yield what stands on the page; ``level`` is that of its first heading."""
    yield heading(MARKS[report["verdict"]], head(report, whole=whole), report["verdict"], level)
    if report["verdict"] == "error":
        yield paragraph(_("The grader itself failed, not your answer."))
    yield block(report["message"])
    yield _families(report)
    for reason in skipped(report["cases"]):
        yield paragraph(reason, "warn")
    cases = {case["id"]: case for case in report["cases"]}
    facts = [fact["explain"] for fact in report["facts"]]
    for at, cause in enumerate(causes.of(report)):
        yield _cause(cause, cases, facts if at == 0 else [], level + 1)
    yield from _unfolded(report, source)
    yield from _footer(report)


def _families(report: Report) -> str:
    items = []
    for name, count in report["families"].items():
        cases = [case for case in report["cases"] if case["family"] == name]
        mark, style = ("✓", "passed") if count["passed"] == count["total"] else ("○", "warn")
        if any(case["outcome"] in FAILURES for case in cases):
            mark, style = "✗", "failed"
        items.append((mark, style, name, fraction(cases)))
    return counts(items)


def _cause(cause: dict[str, Any], cases: dict[str, Case], facts: list[str], level: int) -> str:
    evidence = cause["evidence"]
    case = cases.get(evidence["case"], {})
    parts = [
        paragraph(cause["where"], "where"),
        block(cause["code"]),
        paragraph(cause["explain"]),
        paragraph(f"→ {cause['push']}" if cause["push"] else "", "push"),
        paragraph(evidence["steps"]),
        paragraph(causes.where_seen(cause, case), "dim"),
        paragraph(evidence["call"], "dim call"),
        paragraph(causes.message_of(cause)),
        _picture(evidence.get("picture")),
        paragraph(case.get("only", "")),
        *map(paragraph, facts),
    ]
    return section(causes.title_of(cause, case), parts, level)


def _picture(picture: dict[str, Any] | None) -> str:
    """Return the numbers around the first wrong one, expected, what came, and the difference."""
    if not picture or not picture["expected"]:
        return ""
    scale = pictures.scale_of(picture)
    tables = []
    for name, rows, wrong in pictures.sides(picture):
        pairs = (zip(*row, strict=True) for row in zip(rows, wrong, strict=True))
        tables.append(numbers(name, [[_shaded(number, off, scale) for number, off in row] for row in pairs]))
    return together([paragraph(pictures.head_of(picture), "dim"), side_by_side(tables)])


def _shaded(number: pictures.Number, wrong: bool, scale: float) -> tuple[str, int, bool]:
    return pictures.written(number), pictures.shade_of(number, scale), wrong


def _unfolded(report: Report, source: str) -> Iterator[str]:
    failing = [case for case in report["cases"] if case["outcome"] in FAILURES]
    if failing:
        title = plural("{count} failing case", "{count} failing cases", len(failing)).format(count=len(failing))
        lines = [
            (entry(one["family"], one["title"], one["where"]), paragraph(one["message"], "dim")) for one in failing
        ]
        yield folded(title, [piece for pair in lines for piece in pair])
    sentence = _("Printed during {family} · {title}:")
    printed = [(_("Printed while the file was loaded:"), report["printed"])]
    said = (case for case in report["cases"] if case["printed"])
    printed += [(sentence.format(family=case["family"], title=case["title"]), case["printed"]) for case in said]
    for title, text in [pair for pair in printed if pair[1]][:MOST_PRINTED]:
        yield folded(title, [block(text)])
    if source.strip():
        blamed = {line for cause in causes.of(report) for line in (*cause["lines"], cause["line"])}
        yield folded(report["file"], [numbered(source, blamed)])


def _footer(report: Report) -> Iterator[str]:
    if report["sandbox_gaps"]:
        sentence = _("The sandbox is not complete on this machine ({gaps}); `kata doctor` explains.")
        yield paragraph(sentence.format(gaps=_("; ").join(report["sandbox_gaps"])), "warn")
    known = [f"{name} {version}" for name, version in report["versions"].items() if version]
    if report["seed"] is not None:
        facts = _("seed {seed} · {seconds} s")
        known.insert(0, facts.format(seed=report["seed"], seconds=f"{report['seconds']:.2g}"))
    yield paragraph(" · ".join(known), "dim")
