"""What was done: all katas that were begun, the attempts at one, the versions that can be brought back."""

from collections.abc import Collection, Mapping
from datetime import datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.catalog import KINDS, Kata, beside, kata_of, typed
from grader.history import Attempt, Summary
from grader.language import _, plural
from grader.practice.rounds import Work
from grader.show.colours import NOTE
from grader.show.console import heading, next_step
from grader.show.course import MEDIUM, WIDE, debug_state, mark
from grader.show.practice import tracks
from grader.show.times import ago, moment
from grader.versions import Version

BARS = "▁▂▃▄▅▆▇█"
MAX_ROWS = 12


def overview(
    console: Console,
    katas: Mapping[str, Kata],
    done: Mapping[str, Summary],
    *,
    current: str | None,
    debugging: Mapping[str, str],
    worked: Mapping[str, Work],
    lang: str,
) -> None:
    """Show the course, then what was done with each kata that was begun, and below each what stands beside it."""
    known = [beside(kata_id, kind) for kata_id in katas for kind in ("", *KINDS)]
    begun = [name for name in [*known, *(name for name in done if name not in known)] if name in done]
    if not begun:
        console.print(_("Nothing has been begun yet."))
        next_step(console, _("`kata list` shows the katas, `kata start KATA` begins one."))
        return
    tracks(console, {name for name in begun if done[name].passed}, lang)
    console.print()
    # A number that is cut is none: a narrow page has less room between the columns.
    between = 2 if console.width >= WIDE else 1
    table = Table(box=None, padding=(0, between, 0, 0), header_style="dim")
    table.add_column("")
    # An id is never cut: `--debug` and how far the round is go to the next line.
    table.add_column(_("kata"), overflow="fold", min_width=max(len(kata_of(name)) for name in begun))
    for head in (_("min"), _("rounds"), _("attempts"), _("best"), _("hints")):
        if head != _("best") or console.width >= MEDIUM:
            table.add_column(head, justify="right", no_wrap=True)
    if console.width >= WIDE:
        table.add_column(_("last"), no_wrap=True)
    for kata_id in begun:
        summary = done[kata_id]
        took = worked.get(kata_id, Work())
        best = ["{}/{}".format(*summary.best) if summary.best[1] else ""] if console.width >= MEDIUM else []
        label = typed(kata_id)
        if state := debugging.get(kata_id):
            label += f" ({debug_state(state)})"
        row: list[Text | str] = [mark(summary, here=kata_id == current), label, str(round(took.minutes))]
        row += [str(took.rounds), str(summary.attempts), *best, str(summary.hints)]
        if console.width >= WIDE:
            row.append(ago(summary.last) if summary.last else "")
        table.add_row(*row)
    console.print(table)


def attempts(
    console: Console,
    kata_id: str,
    gradings: list[Attempt],
    *,
    summary: Summary,
    started: datetime | None,
    numbers: dict[str, int],
    state: str = "",
) -> None:
    """Show the attempts at a kata.

    `numbers` tells which version each graded text is, `state` how far its newest debug round is.
    """
    heading(console, kata_id)
    if started:
        console.print(_("begun {moment}, {ago}").format(moment=moment(started), ago=ago(started)))
    if state:
        console.print(_("debug round: {state}").format(state=debug_state(state)))
    if not gradings:
        console.print(_("not graded yet"))
        next_step(console, _("`kata grade {kata}`").format(kata=kata_id))
        return
    whole = [attempt for attempt in gradings if attempt.whole and attempt.total]
    if whole:
        bars = sparkline(whole[-max(8, console.width - 24) :])
        console.print(_("best {passed}/{total}").format(passed=summary.best[0], total=summary.best[1]) + f"  {bars}")
    if summary.hints:
        console.print(plural("{count} hint taken", "{count} hints taken", summary.hints).format(count=summary.hints))
    if summary.gave_up:
        console.print(_("the solution was shown before a pass"))
    console.print()
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for head in (_("when"), "", _("cases")):
        table.add_column(head, justify="right" if head == _("cases") else "left")
    table.add_column(_("version"), justify="right")
    if hidden := len(gradings[:-MAX_ROWS]):
        console.print(Text(_("… {count} earlier").format(count=hidden), style="dim"))
    for attempt in gradings[-MAX_ROWS:]:
        table.add_row(moment(attempt.at), _outcome(attempt), _cases(attempt), str(numbers.get(attempt.digest, "")))
    console.print(table)


def versions(console: Console, kata_id: str, found: list[Version], *, here: Collection[int]) -> None:
    """Show the versions of an answer that can be brought back; `here` are those that the present file is."""
    heading(console, kata_id)
    if not found:
        console.print(_("No earlier version has been kept yet."))
        next_step(console, _("`kata grade` and `kata reset` keep one each time."))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(_("version"), justify="right")
    table.add_column(_("when"), no_wrap=True)
    table.add_column("")
    table.add_column(_("cases"), justify="right")
    table.add_column("")
    for version in found:
        outcome = _outcome(version.attempt) if version.attempt else Text(_("not graded"), style="dim")
        cases = _cases(version.attempt) if version.attempt else ""
        present = _("present") if version.number in here else ""
        table.add_row(str(version.number), moment(version.at), outcome, cases, present)
    console.print(table)
    if len(here) < len(found):
        next_step(console, _("`kata restore {kata} --attempt N` brings one back.").format(kata=kata_id))


def sparkline(gradings: list[Attempt]) -> str:
    """Return one bar per grading, as high as the share of its cases that passed."""
    top = len(BARS) - 1
    return "".join(BARS[attempt.passed * top // attempt.total] for attempt in gradings)


def _outcome(attempt: Attempt) -> Text:
    if attempt.verdict == "passed":
        return Text("✓ ", style="green").append(_("passed") if attempt.whole else _("passed in part"))
    if attempt.verdict == "failed":
        return Text("✗ ", style="red").append(_("failed"))
    return Text("! ", style=NOTE).append(_("the grader failed"))


def _cases(attempt: Attempt) -> str:
    return f"{attempt.passed}/{attempt.total}" if attempt.total else ""
