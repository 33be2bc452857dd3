"""Many gradings: a bar while they run, a line for each of them in the end."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from rich.console import Console
from rich.text import Text

from grader.language import _, plural
from grader.show.console import console
from grader.show.outcome import MARKS, reason
from grader.text import cells, clean

MOST_MISTAKES = 5
FOR_REASON = 14
"""So many columns are for the reason, unless the paths have shrunk to their ends."""
LEAST_FOR_MISTAKES = 5
"""So few answers show by themselves what is wrong with most of them."""


@dataclass(frozen=True, slots=True)
class Row:
    """One grading, without its report."""

    file: str
    kata: str
    verdict: str
    cases: str
    reason: str
    is_copy: bool

    @classmethod
    def of(cls, report: dict[str, Any]) -> Self:
        """Return what the summary shows of a report."""
        passed = sum(case["outcome"] == "passed" for case in report["cases"])
        cases = f"{passed}/{len(report['cases'])}" if report["cases"] else ""
        return cls(clean(report["file"]), report["kata"], report["verdict"], cases, reason(report), "same_as" in report)


class Bar:
    """How many are done; on a terminal only."""

    def __init__(self, total: int) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415 - long to import

        # What is printed goes where it belongs: to standard output, not above the bar.
        self._progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._failed = 0
        self._task = self._progress.add_task("", total=total)

    def __enter__(self) -> Self:
        if self._progress.console.is_terminal and not self._progress.console.is_dumb_terminal:
            self._progress.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._progress.stop()

    def advance(self, report: dict[str, Any]) -> None:
        """Count one more."""
        self._failed += report["verdict"] != "passed"
        description = _("{failed} failed").format(failed=self._failed) if self._failed else ""
        self._progress.update(self._task, advance=1, description=description)


def summary(rows: Sequence[Row], total: int, mistakes: Counter[str]) -> None:
    """Show what came of each, and of all of them."""
    screen = console()
    several = len({row.kata for row in rows}) > 1
    files = max((cells(row.file) for row in rows), default=0)
    names = max((len(row.kata) for row in rows), default=0) if several else 0
    counts = max((len(row.cases) for row in rows), default=0)
    if screen.is_terminal:
        # Beside the mark, and two spaces before each of the other columns.
        left = screen.width - 2 - (names + 2 if several else 0) - (counts + 4) - FOR_REASON
        files = min(files, max(12, min(left, screen.width // 2)))
    for row in rows:
        line = Text.assemble(MARKS[row.verdict], _padded(row.file, files))
        if several:
            line.append(f"  {row.kata:{names}}", "dim")
        line.append(f"  {row.cases:>{counts}}  ")
        line.append(row.reason, "dim")
        line.rstrip()
        _print(screen, line)
    if rows:
        screen.print()
    passed = sum(row.verdict == "passed" for row in rows)
    sentence = plural("{passed} of {count} answer passed", "{passed} of {count} answers passed", len(rows))
    line = Text(sentence.format(passed=passed, count=len(rows)), "bold")
    if copies := sum(row.is_copy for row in rows):
        line.append(" · " + plural("{count} copy", "{count} copies", copies).format(count=copies))
    if broken := sum(row.verdict == "error" for row in rows):
        sentence = plural("{count} grading broke", "{count} gradings broke", broken)
        line.append(" · " + sentence.format(count=broken))
    if left := total - len(rows):
        line.append(" · " + _("{count} not graded").format(count=left))
    _print(screen, line)
    if len(rows) >= LEAST_FOR_MISTAKES:
        often = [(title, count) for title, count in mistakes.most_common(MOST_MISTAKES) if count > 1]
        for title, count in often:
            _print(screen, Text(f"  {count} × {clean(title)}"))  # noqa: RUF001 - a multiplication sign is meant


def _padded(file: str, width: int) -> str:
    """Return a path in `width` columns; the end of a long one tells more than its beginning."""
    if cells(file) > width:
        while cells(file) >= width:
            file = file[1:]
        file = f"…{file}"
    return file + " " * (width - cells(file))


def _print(screen: Console, line: Text) -> None:
    if screen.is_terminal:
        screen.print(line, no_wrap=True, overflow="ellipsis")
    else:
        screen.print(line, soft_wrap=True)
