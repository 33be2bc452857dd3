"""A report as a learner reads it: the causes first, each with its line, the push and a case as its evidence."""

from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

from grader import catalog
from grader.language import _, plural
from grader.show import causes
from grader.show.causes import FAILURES
from grader.show.colours import NOTE
from grader.show.console import next_step, say
from grader.show.paragraphs import first_line, indented, output, paragraph
from grader.text import clean

MAX_PRINTED_LINES = 12
MAX_PRINTED_BESIDE = 2
"""So many lines of what was printed stand on the page of a failure, unless all of it is wanted."""
MAX_REASONS = 1
MOST_LINES_OF_A_REASON = 2

Report = dict[str, Any]
Case = dict[str, Any]


class Page:
    """A page that is drawn short, or whole."""

    def __init__(self, draw: Callable[[Console, bool], None]) -> None:
        """``draw`` is told whether all of it is wanted."""
        self._draw = draw

    def __call__(self, console: Console) -> None:
        """Draw what matters."""
        self._draw(console, False)

    def whole(self, console: Console) -> None:
        """Draw all of it."""
        self._draw(console, True)


def verdict(
    console: Console, report: Report, *, whole: bool, then: str, own: bool = True, full: bool = False, typed: str = ""
) -> None:
    """Show a report; `whole` is false where only some cases were chosen, `then` is the next step after a pass.

    `full` shows all causes with all that is known of them, and every case. `typed` is what names the file in a command.

    Of a file that is not the learner's own nothing is recorded, which is said in the place of the next step.
    """
    if report["verdict"] == "error":
        _error(console, report)
    elif report["verdict"] == "passed":
        _passed(console, report, whole=whole, then=then, own=own)
    else:
        _failed(console, report, own=own, full=full, typed=typed or _name(report))


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
    console.print(Text.assemble(("! ", f"bold {NOTE}"), (head(report), "bold")))
    paragraph(console, _("The grader itself failed, not your answer."))
    paragraph(console, report["message"])
    console.print(_("Your file is as it was."))


def _passed(console: Console, report: Report, *, whole: bool, then: str, own: bool) -> None:
    console.print(Text.assemble(("✓ ", "bold green"), (head(report, whole=whole), "bold")))
    families = " · ".join(f"{name} {fraction(_of(report, name))}" for name in report["families"])
    indented(console, Text(families, style="dim"), 2)
    for reason in skipped(report["cases"]):
        indented(console, Text(reason, style=NOTE), 2)
    _printed(console, report, MAX_PRINTED_LINES)
    _footer(console, report)
    if not own:
        _not_recorded(console, report)
    elif then:
        next_step(console, then)


def _not_recorded(console: Console, report: Report) -> None:
    sentence = _("Graded, not recorded: {file} is not in your workspace.")
    say(console, Text(sentence.format(file=clean(report["file"])), style=NOTE))


def _failed(console: Console, report: Report, *, own: bool, full: bool, typed: str) -> None:
    cases = report["cases"]
    failures = [case for case in cases if case["outcome"] in FAILURES]
    line = Text.assemble(("✗ ", "bold red"), (head(report), "bold"))
    count = len(causes.of(report))
    if failures and not report["message"] and count > 1:
        line.append(" · " + plural("{count} cause", "{count} causes", count).format(count=count), "bold")
    console.print(line)
    if report["message"]:
        # Then no case has run, or none had anything to look at: one sentence is the whole story.
        paragraph(console, report["message"])
    elif failures:
        for line in _families(report, console.width - 2):
            console.print(Text("  ") + line)
        for reason in skipped(report["cases"])[: None if full else MAX_REASONS]:
            indented(console, Text(reason, style=NOTE), 2, most=0 if full else MOST_LINES_OF_A_REASON)
        causes.show(console, report, full=full)
        if report.get("unexplained"):
            sentence = _("The search for the cause failed ({problem}); the verdict stands. Please report it.")
            indented(console, Text(sentence.format(problem=clean(report["unexplained"])), style=NOTE), 2)
    _printed(console, report, MAX_PRINTED_LINES if full else MAX_PRINTED_BESIDE)
    _footer(console, report)
    if own:
        next_step(console, _("`kata hint {kata}` goes a step further.").format(kata=typed))
    else:
        _not_recorded(console, report)


def _name(report: Report) -> str:
    return catalog.typed(catalog.debug_round(report["kata"])) if "debug" in report else str(report["kata"])


def _families(report: Report, width: int) -> list[Text]:
    """Return the families in lines: numbers where something failed."""
    found = [Text()]
    for name, counts in report["families"].items():
        cases = _of(report, name)
        mark, style = "✓", "green"
        if any(case["outcome"] in FAILURES for case in cases):
            mark, style = "✗", "red"
        elif counts["passed"] < counts["total"]:
            mark, style = "○", NOTE
        count = "" if mark == "✓" else f" {fraction(cases)}"
        item = Text.assemble((f"{mark} ", style), f"{clean(name)}{count}")
        if found[-1] and len(found[-1]) + 2 + len(item) > width:
            found.append(Text())
        found[-1] = Text("  ").join([found[-1], item]) if found[-1] else item
    return found


def _of(report: Report, family: str) -> list[Case]:
    return [case for case in report["cases"] if case["family"] == family]


def _printed(console: Console, report: Report, most: int) -> None:
    if report["printed"]:
        output(console, _("Printed while the file was loaded:"), report["printed"], most)
    cases = [case for case in report["cases"] if case["printed"]]
    if not cases:
        return
    shown = next((case for case in cases if case["outcome"] in FAILURES), cases[0])
    head = _("Printed during {family} · {title}:").format(family=clean(shown["family"]), title=clean(shown["title"]))
    output(console, head, shown["printed"], most)
    if others := len(cases) - 1:
        sentence = plural("{count} other case printed something.", "{count} other cases printed something.", others)
        console.print(Text(sentence.format(count=others), style="dim"))


def _footer(console: Console, report: Report) -> None:
    console.print()
    if report["seed"] is not None:  # else nothing has run
        facts = _("seed {seed} · {seconds} s").format(seed=report["seed"], seconds=f"{report['seconds']:.2g}")
        console.print(Text(facts, style="dim"))
    if report["sandbox_gaps"]:
        gaps = _("; ").join(clean(gap) for gap in report["sandbox_gaps"])
        sentence = _("The sandbox is not complete on this machine ({gaps}); `kata doctor` explains.")
        console.print(Text(sentence.format(gaps=gaps), style=NOTE))


def skipped(cases: Iterable[Case]) -> list[str]:
    """Return how many cases were skipped, for each reason."""
    reasons: dict[str, int] = {}
    for case in cases:
        if case["outcome"] == "skipped":
            reason = first_line(case["message"])
            reasons[reason] = reasons.get(reason, 0) + 1
    return [_("{count} skipped: {reason}").format(count=count, reason=reason) for reason, count in reasons.items()]


def fraction(cases: list[Case]) -> str:
    """Return how many cases passed, of those that somebody needed."""
    passed = sum(case["outcome"] == "passed" for case in cases)
    return f"{passed}/{sum(map(_was_wanted, cases))}"


def _was_wanted(case: Case) -> bool:
    """Whether somebody needed it: what only repeats a failure is not counted."""
    return bool(case["outcome"] != "skipped" or case.get("kind") != "unasked")
