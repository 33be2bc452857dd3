"""Katas in a notebook: `%load_ext grader.ipython`, then `%%kata mha` at the head of a cell, `%kata hint`, `%kata show`.

The cell is saved into the workspace, where every version is kept, and graded as `kata grade` grades it: in a sandbox.
It is not executed in the kernel.
"""

from __future__ import annotations

import io
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console

from grader import catalog, language
from grader.cli.attempt import finished, graded, keep, page, record
from grader.cli.base import App, Target
from grader.cli.guard import refuse, touched
from grader.client.broken import error_report
from grader.errors import GraderFailed, KataError, UsageError
from grader.language import _
from grader.show.html import within
from grader.text import clean, shown
from grader.workspace import digest

Bundle = dict[str, str]
COLUMNS: Final = 100
_MISSING: Final = re.compile(r"NameError: name '(\w+)' is not defined")


def load_ipython_extension(shell: Any) -> None:
    """Let a shell of IPython know `%kata` and `%%kata`."""

    def kata(line: str, cell: str | None = None) -> None:
        """Grade this cell: `%%kata mha`. Or ask: `%kata hint`, `%kata show`."""
        bundle = asked(line) if cell is None else answered(line, cell, shell.user_ns)
        import_module("IPython.display").display(bundle, raw=True)  # whoever calls this has it

    shell.register_magic_function(kata, "line_cell", "kata")


def answered(line: str, cell: str, elsewhere: Collection[str] = ()) -> Bundle:
    """Save a cell as the answer to the kata that its first line names, grade it, and return the verdict to show.

    ``elsewhere`` are the names that other cells have defined: an answer that lacks one of them is told so.
    """
    with _app() as (app, tell):
        try:
            options = _options(line)
            target = app.target(options["kata"], debug=options["debug"])
            refuse(app, target.kata)
            source = cell.strip("\n") + "\n"
            moved = _save(app, target, source)
            report = _graded(app, target, source, options)
            notes = tell + moved + _names_elsewhere(report, elsewhere)
            return _verdict(app, target, report, source, notes, whole=not options["case"])
        except KataError as error:
            return _sentence(error)


def asked(line: str) -> Bundle:
    """Return what `%kata hint` or `%kata show` shows."""
    with _app() as (app, tell):
        try:
            word, *rest = [*shlex.split(line), ""]
            if word == "show":
                text = app.kata(rest[0] or None).brief(app.lang)
                return {"text/plain": text, "text/markdown": text}
            if word == "hint":
                return _hint(app, rest[0] or None, tell)
        except KataError as error:
            return _sentence(error)
        except ValueError:
            pass
    sentence = _("`%kata hint` and `%kata show` ask, `%%kata KATA` at the head of a cell grades it.")
    return _sentence(UsageError(sentence, _("`!kata ...` runs every other command.")))


@contextmanager
def _app() -> Iterator[tuple[App, list[str]]]:
    """Make the tool for one magic, in the language that `kata` would speak; what it would say is collected."""
    chosen = language.recognised(os.environ.get("KATA_LANG", "")) or language.from_locale()
    language.use(chosen)
    folder = os.environ.get("KATA_WORKSPACE")
    app, said = App(Path(folder).expanduser() if folder else None, chosen), list[str]()
    app.voice = said.append
    try:
        yield app, said
    finally:
        app.close()


@click.command("%%kata", add_help_option=False)
@click.argument("kata", required=False)
@click.option("--case", default="")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1))
@click.option("--debug", is_flag=True)
def _line(**options: Any) -> dict[str, Any]:
    return options


def _options(line: str) -> dict[str, Any]:
    try:
        options: dict[str, Any] = _line.main(shlex.split(line), standalone_mode=False)
    except click.ClickException as error:
        raise UsageError(error.format_message(), _("`%%kata mha --case mask --seed 7`")) from error
    except ValueError as error:
        raise UsageError(str(error)) from error
    return options


def _save(app: App, target: Target, source: str) -> list[str]:
    """Put a cell in the place of the file; what another editor has written there is kept, and said."""
    beginnings = [] if target.debug else app.beginnings(catalog.find(target.kata))
    present = app.workspace.present(target.name)
    known = {version.digest for version in app.workspace.kept(target.name)}
    moved = app.workspace.restore(target.name, source, *beginnings)
    app.touch(target, named=True)
    app.remember_workspace()
    keep(app, target.name, source)
    if moved is None or present is None or digest(present)[:10] in known:
        return []
    return [_("What was in {path} is now {moved}.").format(path=_file(app, target), moved=shown(moved))]


def _graded(app: App, target: Target, source: str, options: dict[str, Any]) -> dict[str, Any]:
    from grader.client import session  # noqa: PLC0415 - after the errors that cost nothing

    asked_for = {"case": options["case"], "seed": options["seed"]}
    request = session.Request(kata=target.kata, source=source, filename=_file(app, target), lang=app.lang, **asked_for)
    try:
        with session.open(stays=True) as grader:
            report = graded(grader, request)
    except GraderFailed as error:
        report = error_report(request, error)
    whole = not options["case"]
    report, _planted = finished(app, target, report, whole=whole)
    record(app, target.name, source, report, whole=whole)
    return report


def _verdict(app: App, target: Target, report: dict[str, Any], source: str, notes: list[str], *, whole: bool) -> Bundle:
    drawn = page(app, target.name, report, None, whole=whole)
    plain = _drawn(drawn) + "".join(f"{note}\n" for note in notes)
    return {"text/plain": plain, "text/html": within(report, source, notes, whole=whole)}


def _hint(app: App, name: str | None, tell: list[str]) -> Bundle:
    from grader.cli.hints import show_hint  # noqa: PLC0415 - only for those who ask

    target = touched(app, name, debug=False)
    text = _drawn(lambda screen: show_hint(app, target, screen))
    return {"text/plain": "".join(f"{sentence}\n" for sentence in tell) + text, "text/markdown": text}


def _drawn(draw: Callable[[Console], Any]) -> str:
    paper = io.StringIO()
    # A kernel says that it is a terminal with colours, and rich would draw into the notebook by itself.
    plain: dict[str, Any] = {"color_system": None, "highlight": False, "markup": False, "emoji": False}
    draw(Console(file=paper, width=COLUMNS, force_terminal=False, force_jupyter=False, **plain))
    return paper.getvalue()


def _names_elsewhere(report: dict[str, Any], elsewhere: Collection[str]) -> list[str]:
    """Say which names the answer misses although another cell defines them."""
    told = [report["message"], *(case["message"] for case in report["cases"])]
    missing = sorted({name for text in told for name in _MISSING.findall(text)} & set(elsewhere))
    sentence = _("{name} is defined in another cell: this one is graded by itself, so it needs its own.")
    return [sentence.format(name=name) for name in missing]


def _file(app: App, target: Target) -> str:
    return shown(app.any_workspace.path(target.name))


def _sentence(error: KataError) -> Bundle:
    return {"text/plain": _("Error: {sentence}").format(sentence=clean(error.in_one_line()))}
