"""A report as a learner reads it: facts first, then the diagnosis, then a nudge."""

from collections.abc import Collection, Iterable
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from grader.catalog import debug_round, typed
from grader.language import _, plural
from grader.show.console import next_step, say
from grader.text import cells, clean, lines

FAILURES = ("failed", "timeout", "crashed")
MAX_LINES = 15
MAX_PRINTED_LINES = 12
NARROW = 50

Report = dict[str, Any]
Case = dict[str, Any]


def verdict(console: Console, report: Report, *, whole: bool, then: str, own: bool = True) -> None:
    """Show a report; `whole` is false where only some cases were chosen, `then` is the next step after a pass.

    Of a file that is not the learner's own nothing is recorded, which is said in the place of the next step.
    """
    if report["verdict"] == "error":
        _error(console, report)
    elif report["verdict"] == "passed":
        _passed(console, report, whole=whole, then=then, own=own)
    else:
        _failed(console, report, own=own)


def head(report: Report, *, whole: bool = True) -> str:
    """Return the verdict itself."""
    count = sum(case["outcome"] == "passed" for case in report["cases"])
    if report["verdict"] == "error" or report["message"]:
        return _name(report)
    if report["verdict"] == "failed":
        sentence = _("{kata}: {passed} of {total} cases pass")
        return sentence.format(kata=_name(report), passed=count, total=sum(map(_was_wanted, report["cases"])))
    if whole:
        sentence = plural(
            "{kata} passed: {count} case in {seconds} s", "{kata} passed: {count} cases in {seconds} s", count
        )
    else:
        sentence = plural("{kata}: the chosen case passes", "{kata}: the {count} chosen cases pass", count)
    return sentence.format(kata=_name(report), count=count, seconds=f"{report['seconds']:.2g}")


def _error(console: Console, report: Report) -> None:
    console.print(Text.assemble(("! ", "bold yellow"), (head(report), "bold")))
    _paragraph(console, _("The grader itself failed, not your answer."))
    _paragraph(console, report["message"])
    console.print(_("Your file is as it was."))


def _passed(console: Console, report: Report, *, whole: bool, then: str, own: bool) -> None:
    console.print(Text.assemble(("✓ ", "bold green"), (head(report, whole=whole), "bold")))
    families = " · ".join(f"{name} {_fraction(_of(report, name))}" for name in report["families"])
    _indented(console, Text(families, style="dim"), 2)
    for reason in skipped(report["cases"]):
        _indented(console, Text(reason, style="yellow"), 2)
    _printed(console, report)
    _footer(console, report)
    if not own:
        _not_recorded(console, report)
    elif then:
        next_step(console, then)


def _not_recorded(console: Console, report: Report) -> None:
    sentence = _("Graded, not recorded: {file} is not in your workspace.")
    say(console, Text(sentence.format(file=clean(report["file"])), style="yellow"))


def _failed(console: Console, report: Report, *, own: bool) -> None:
    cases = report["cases"]
    failures = [case for case in cases if case["outcome"] in FAILURES]
    console.print(Text.assemble(("✗ ", "bold red"), (head(report), "bold")))
    if report["message"]:
        # Then no case has run, or none had anything to look at: one sentence is the whole story.
        _paragraph(console, report["message"])
    elif failures:
        console.print(_families(report))
        for reason in skipped(report["cases"], only=_shared(report)):
            _indented(console, Text(reason, style="yellow"), 2)
        console.print()
        _explained(console, report, failures)
    _printed(console, report)
    _footer(console, report)
    if own:
        next_step(console, _("`kata hint {kata}` goes a step further.").format(kata=_name(report)))
    else:
        _not_recorded(console, report)


def _name(report: Report) -> str:
    return typed(debug_round(report["kata"])) if "debug" in report else str(report["kata"])


def _families(report: Report) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, counts in report["families"].items():
        cases = _of(report, name)
        mark, style = "✓", "green"
        if any(case["outcome"] in FAILURES for case in cases):
            mark, style = "✗", "red"
        elif counts["passed"] < counts["total"]:
            mark, style = "○", "yellow"
        row: list[RenderableType] = ["", Text(mark, style=style), clean(name), Text(_fraction(cases), justify="right")]
        if notes := skipped(cases, briefly=_shared(report)):
            row.append(_("; ").join(notes))
        table.add_row(*row)
    return table


def _of(report: Report, family: str) -> list[Case]:
    return [case for case in report["cases"] if case["family"] == family]


def _shared(report: Report) -> set[str]:
    """Return the reasons for which cases of several families were skipped: they are told once for all."""
    found: dict[str, set[str]] = {}
    for case in report["cases"]:
        if case["outcome"] == "skipped":
            found.setdefault(_first_line(case["message"]), set()).add(case["family"])
    return {reason for reason, families in found.items() if len(families) > 1}


def _in_full(console: Console, case: Case) -> None:
    where = clean(case["where"])
    head = Text.assemble(("✗ ", "bold red"), (clean(case["family"]), "red"), "  ", (clean(case["title"]), "bold"))
    if where and console.width >= NARROW:
        line = Table.grid(expand=True, padding=(0, 0, 0, 2))
        line.add_column(ratio=1)
        line.add_column(no_wrap=True)
        line.add_row(head, Text(where, style="magenta"))
        console.print(line)
    else:
        console.print(head)
        _paragraph(console, where, "cyan")
    _paragraph(console, case["about"], "dim")
    _paragraph(console, case["call"])
    _paragraph(console, case["message"])
    _paragraph(console, case.get("only", ""), "bold")
    if case["line"]:
        _paragraph(console, f"> {clean(case['line']).strip()}", "cyan")


def _explained(console: Console, report: Report, failures: list[Case]) -> None:
    """Show the first failing case, and one for each mistake that it does not show; name the others."""
    told = {0: [fact["explain"] for fact in report.get("facts", [])]}
    for mistake in _mistakes(report["mistakes"]):
        at = next((at for at, case in enumerate(failures) if case["id"] in mistake["cases"]), 0)
        told.setdefault(at, []).extend((mistake["explain"], f"→ {mistake['nudge']}"))
    for at, said in told.items():
        if at:
            console.print()
        _in_full(console, failures[at])
        for sentence in said:
            _paragraph(console, sentence, "bold")
    _rest(console, [case for at, case in enumerate(failures) if at not in told], failures[0]["message"])


def _mistakes(mistakes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the mistakes to be told: both of two that stand for different cases or are in one file; else the first."""
    several = len(mistakes) > 1 and (mistakes[0].get("together") or mistakes[0]["cases"] != mistakes[1]["cases"])
    return mistakes[: 2 if several else 1]


def _rest(console: Console, failures: list[Case], first_message: str) -> None:
    if not failures:
        return
    console.print()
    if len(failures) > MAX_LINES and all(case["message"] == first_message for case in failures):
        console.print(_("The other {count} failing cases say the same.").format(count=len(failures)))
        return
    for case in failures[:MAX_LINES]:
        line = Text.assemble(("✗ ", "red"), (clean(case["family"]), "red"), "  ", clean(case["title"]))
        if case["where"]:
            line.append(f"  {clean(case['where'])}", "cyan")
        if case["message"] and case["message"] != first_message:
            line.append(f"  {_first_line(case['message'])}", "dim")
        console.print(line, no_wrap=True, overflow="ellipsis")
    if left := len(failures[MAX_LINES:]):
        console.print(_("… and {count} more").format(count=left))


def _printed(console: Console, report: Report) -> None:
    if report["printed"]:
        _output(console, _("Printed while the file was loaded:"), report["printed"])
    cases = [case for case in report["cases"] if case["printed"]]
    if not cases:
        return
    shown = next((case for case in cases if case["outcome"] in FAILURES), cases[0])
    head = _("Printed during {family} · {title}:").format(family=clean(shown["family"]), title=clean(shown["title"]))
    _output(console, head, shown["printed"])
    if others := len(cases) - 1:
        sentence = plural("{count} other case printed something.", "{count} other cases printed something.", others)
        console.print(Text(sentence.format(count=others), style="dim"))


def _output(console: Console, head: str, text: str) -> None:
    lines = clean(text).rstrip("\n").splitlines()
    console.print()
    console.print(Text(head))
    for line in lines[:MAX_PRINTED_LINES]:
        _indented(console, Text(line, style="dim"), 4)
    if left := len(lines[MAX_PRINTED_LINES:]):
        _indented(console, Text(_("… and {count} more lines").format(count=left), style="dim"), 4)


def _footer(console: Console, report: Report) -> None:
    console.print()
    if report["seed"] is not None:  # else nothing has run
        facts = _("seed {seed} · {seconds} s").format(seed=report["seed"], seconds=f"{report['seconds']:.2g}")
        console.print(Text(facts, style="dim"))
    if report["sandbox_gaps"]:
        gaps = _("; ").join(clean(gap) for gap in report["sandbox_gaps"])
        sentence = _("The sandbox is not complete on this machine ({gaps}); `kata doctor` explains.")
        console.print(Text(sentence.format(gaps=gaps), style="yellow"))


def skipped(cases: Iterable[Case], *, briefly: Collection[str] = (), only: Collection[str] | None = None) -> list[str]:
    """Return how many cases were skipped, for each reason, or for ``only`` these; ``briefly`` those told elsewhere."""
    reasons: dict[str, int] = {}
    for case in cases:
        if case["outcome"] == "skipped":
            reason = _first_line(case["message"])
            reasons[reason] = reasons.get(reason, 0) + 1
    known = {reason: count for reason, count in reasons.items() if only is None or reason in only}
    brief, whole = _("{count} skipped"), _("{count} skipped: {reason}")
    return [
        (brief if reason in briefly else whole).format(count=count, reason=reason) for reason, count in known.items()
    ]


def _paragraph(console: Console, text: str, style: str = "") -> None:
    if text:
        _indented(console, Text(clean(text), style=style), 4)


def _indented(console: Console, text: Text, by: int) -> None:
    width = max(10, console.width - by)
    if cells(text.plain) > len(text.plain):  # between Chinese characters a line may end anywhere
        text = Text("\n".join(line for part in text.plain.split("\n") for line in lines(part, width)), style=text.style)
    for line in text.wrap(console, width):
        line.rstrip()
        console.print(Text(" " * by) + line)


def _first_line(text: str) -> str:
    return clean(text).split("\n", 1)[0]


def _fraction(cases: list[Case]) -> str:
    passed = sum(case["outcome"] == "passed" for case in cases)
    return f"{passed}/{sum(map(_was_wanted, cases))}"


def _was_wanted(case: Case) -> bool:
    """Whether somebody needed it: what only repeats a failure is not counted."""
    return bool(case["outcome"] != "skipped" or case.get("kind") != "unasked")
