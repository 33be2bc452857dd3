"""`kata grade --format`: a report for another program, on standard output or in a file."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from grader.errors import UsageError, WorkspaceError
from grader.language import _
from grader.text import clean, shown

Report = dict[str, Any]
F = TypeVar("F", bound=Callable[..., Any])

FORMATS: Final = ("lines", "github", "junit", "gradescope", "classroom50")
OF_ONE: Final = ("gradescope", "classroom50")
"""These are about one answer, and have no way to say that the grader itself failed but not to be there."""
POINTS: Final = 10
MOST_POINTS: Final = 10_000
BEGINNINGS: Final = {"junit": "<", "gradescope": "{", "classroom50": "{"}
"""How a file of a form begins; those in lines begin anyhow."""


@dataclass(frozen=True, slots=True)
class Form:
    """How reports are written; without a ``name`` they are for people."""

    name: str
    output: Path | None
    points: int
    explain: bool
    exit_zero: bool
    html: Path | None

    def keep(self, report: Report, source: str, *, whole: bool) -> None:
        """Write the page to keep, where one is wanted. Raises WorkspaceError."""
        if self.html is not None:
            from grader.show.html import page  # noqa: PLC0415 - rich is for people

            place(self.html, page(report, source, whole=whole))
            click.echo(_("Written to {path}.").format(path=shown(self.html)), err=True)  # results alone are on stdout

    def write(self, graded: Sequence[tuple[Report, str]]) -> None:
        """Write reports and the sources they are about. Raises UsageError and WorkspaceError."""
        text = self._text(graded)
        if text is None:
            click.echo(
                _("The grader itself failed, so nothing is written: {reason}").format(reason=graded[0][0]["message"]),
                err=True,
            )
            if self.output is not None:
                self.output.unlink(missing_ok=True)  # what an earlier grading wrote is not about this one
        elif self.output is None:
            click.echo(text, nl=False)
            sys.stdout.flush()
        else:
            place(self.output, text)
            for report, _source in graded:
                passed, total = (sum(one[key] for one in report["families"].values()) for key in ("passed", "total"))
                sentence = _("{file}: {passed} of {total} cases pass; written to {output}.")
                sentence = sentence if total else _("{file}: no case ran; written to {output}.")
                fields = {"file": clean(report["file"]), "passed": passed, "total": total, "output": shown(self.output)}
                click.echo(sentence.format(**fields))

    def code(self, code: int) -> int:
        """Return the exit code: with --exit-zero that of an answer that was graded is 0, whatever came of it."""
        return 0 if self.exit_zero and code == 1 else code

    def _text(self, graded: Sequence[tuple[Report, str]]) -> str | None:
        if self.name == "junit":
            from grader.formats.junit import junit  # noqa: PLC0415 - one of them at most

            return junit((report for report, _source in graded), self.points, explain=self.explain)
        if self.name == "github":
            from grader.formats.github import github  # noqa: PLC0415 - likewise

            return github(graded, self.points, explain=self.explain)
        if self.name == "lines":
            from grader.formats.lines import lines  # noqa: PLC0415 - likewise

            return "".join(lines(report, source) for report, source in graded)
        ((report, _source),) = graded
        if report["verdict"] == "error":
            return None
        if self.name == "gradescope":
            from grader.formats.gradescope import gradescope  # noqa: PLC0415 - likewise

            return gradescope(report, self.points, explain=self.explain)
        from grader.formats.classroom50 import classroom50  # noqa: PLC0415 - likewise

        return classroom50(report, self.points, os.environ, explain=self.explain)


def format_options(command: F) -> F:
    """Give a command the options of a form."""
    options = (
        click.option(
            "--format", "name", type=click.Choice(FORMATS), help="Print for another program: docs/teaching.md."
        ),
        click.option(
            "--output", type=click.Path(path_type=Path, dir_okay=False), help="Where that goes; else it is printed."
        ),
        click.option(
            "--points",
            type=click.IntRange(1, MOST_POINTS),
            metavar="N",
            help="What a pass is worth in a marking system: 10 unless you say so.",
        ),
        click.option("--explain", is_flag=True, help="Name the mistakes in a form for a class, too."),
        click.option(
            "--html",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Write the verdict as a page of its own, too.",
        ),
        click.option("--exit-zero", is_flag=True, help="End with 0 where the answer failed, too."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def form_of(
    *,
    name: str | None,
    output: Path | None,
    points: int | None,
    explain: bool,
    exit_zero: bool,
    html: Path | None,
    as_json: bool,
) -> Form:
    """Return the form that was asked for. Raises click's error for options that go with another one."""
    if not name and (output is not None or points or explain):
        raise click.UsageError(_("--output, --points and --explain go with --format."))
    if name and as_json:
        raise click.UsageError(_("--json and --format are two ways to print the same."))
    if output is not None:
        refuse_foreign(output, BEGINNINGS.get(name or "", ""))
    if html is not None:
        refuse_foreign(html, "<!doctype")
    return Form(name or "", output, points or POINTS, explain, exit_zero, html)


def refuse_many(form: Form, *, full: bool) -> None:
    """Raise UsageError for a form that is about one answer, a `full` page too."""
    if form.name in OF_ONE:
        raise UsageError(_("--format {name} is about one answer.").format(name=form.name))
    if form.html is not None:
        raise UsageError(_("--html is about one answer."))
    if full:
        raise UsageError(_("--full is about one answer."))


def refuse_foreign(path: Path, begins: str) -> None:
    """Raise UsageError where a file to write would take the place of one that is none of ours, an answer say.

    Ours are no Python and begin with ``begins``.
    """
    if not path.name:
        raise UsageError(_("The path of the file to write is empty."))
    try:
        if not path.is_file():  # a pipe would wait for whoever writes it
            return
        with path.open(encoding="utf-8", errors="replace") as file:
            there = file.read(len(begins) or 1)
    except OSError:  # whoever writes it says what is wrong
        return
    if there and (path.suffix.lower() == ".py" or not there.startswith(begins)):
        sentence = _("{path} is there already, and kata did not write it: it stays as it is.")
        raise UsageError(sentence.format(path=shown(path)), _("Give it another path."))


def place(path: Path, text: str) -> None:
    """Write a file whole. Raises UsageError where its folder is not there."""
    if not path.parent.is_dir():
        raise UsageError(_("There is no folder {path}.").format(path=shown(path.parent)))
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.new")
    try:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise WorkspaceError(path, error, _("Give it a path in another folder.")) from error
