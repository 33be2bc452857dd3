"""What came of a model's samples: a line for each task, then pass@k with its interval."""

from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from grader.evaluation.score import Estimate, Tally, pass_at
from grader.language import _, plural
from grader.show.colours import NOTE
from grader.show.console import console, say
from grader.text import clean


def summary(tallies: Mapping[str, Tally], estimates: Sequence[Estimate]) -> None:
    """Show the tasks and the estimates over all of them."""
    screen = console()
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(_("kata"))
    table.add_column(_("passed"), justify="right")
    for one in estimates:
        table.add_column(f"pass@{one.k}", justify="right")
    for task, tally in tallies.items():
        shares = (_share(pass_at(one.k, tally.graded, tally.passed)) for one in estimates)
        table.add_row(clean(task), f"{tally.passed}/{tally.graded}", *shares)
    if tallies:
        screen.print(table)
        screen.print()
    for one in estimates:
        say(screen, _line(one))
    if missing := sum(tally.missing for tally in tallies.values()):
        sentence = plural(
            "The grader itself failed on {count} sample, which counts nowhere; --resume grades it again.",
            "The grader itself failed on {count} samples, which count nowhere; --resume grades them again.",
            missing,
        )
        say(screen, Text(sentence.format(count=missing), style=NOTE))


def _line(one: Estimate) -> str:
    if one.mean is None:
        sentence = plural("pass@{k}: no task has {k} sample.", "pass@{k}: no task has {k} samples.", one.k)
        return sentence.format(k=one.k)
    sentence = plural(
        "pass@{k} {mean} (95 %: {low} to {high}), {count} task",
        "pass@{k} {mean} (95 %: {low} to {high}), {count} tasks",
        one.tasks,
    )
    return sentence.format(k=one.k, mean=_share(one.mean), low=_share(one.low), high=_share(one.high), count=one.tasks)


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"
