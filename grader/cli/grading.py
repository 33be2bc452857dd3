"""Grading: grade, repro."""

import json
import platform
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader import __version__, catalog
from grader.cli.base import App, KataCommand, crash, examples, kata_names
from grader.errors import GraderFailed, KataError, NothingToReproduce, UsageError, WorkspaceError
from grader.language import _
from grader.text import shown

if TYPE_CHECKING:
    from grader import session

EXIT_CODES = {"passed": 0, "failed": 1, "error": 3}
_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")


def _device(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    if name and not _DEVICE.fullmatch(name):
        raise click.BadParameter(_("'{name}' is none of cpu, cuda, cuda:N, mps.").format(name=name))
    return name


@click.command(
    "grade",
    cls=KataCommand,
    short_help="Grade your answer.",
    epilog=examples("kata grade", "kata grade mha --case mask", "kata grade --file other/mha.py --json"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--file", "path", type=click.Path(path_type=Path), help="Grade this file instead of the workspace's.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON document.")
@click.option("--case", default="", metavar="TEXT", help="Only the cases whose name contains TEXT.")
@click.option(
    "--device", default="", metavar="NAME", callback=_device, help="Also run the device family on cuda or mps."
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Repeat the inputs of an earlier grading.")
@click.pass_context
def grade_command(
    context: click.Context,
    *,
    kata: str | None,
    path: Path | None,
    as_json: bool,
    case: str,
    device: str,
    seed: int | None,
) -> None:
    """Grade your answer to KATA, or to the current kata.

    Ends with 0 when the answer passed, 1 when it failed, 2 for wrong use, 3 when the grader itself failed.
    """
    app: App = context.obj
    kata_id = app.kata_id(kata or _named_by(path))
    source = app.answer(kata_id, path)
    filename = shown(path or app.workspace.path(kata_id))

    from grader import session  # noqa: PLC0415 - after the errors that cost nothing

    request = session.Request(
        kata=kata_id, source=source, filename=filename, seed=seed, case=case, device=device, lang=app.lang
    )
    try:
        with session.open() as grader:
            # Torch is loading meanwhile.
            _keep(app, request, own=path is None)
            report = _graded(grader, request)
    except GraderFailed as error:
        report = _error_report(request, error)
    try:
        _show(app, report, whole=not case, as_json=as_json)
    finally:
        # After the verdict, which must not wait for a disk; also when nobody reads it to its end (`| head`).
        _record(app, request, report)
    context.exit(EXIT_CODES[report["verdict"]])


@click.command(
    "repro",
    cls=KataCommand,
    short_help="Write the failing call as a script.",
    epilog=examples("kata repro", "python workspace/repro_mha.py"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.pass_obj
def repro_command(app: App, kata: str | None) -> None:
    """Write the smallest failing call of the last failed attempt as a script for a debugger."""
    chosen = app.kata(kata)
    failed = [attempt for attempt in app.history.attempts(chosen.id) if attempt.verdict == "failed"]
    if not failed:
        sentence = _("No attempt at {kata} has failed, so there is nothing to reproduce.")
        raise NothingToReproduce(sentence.format(kata=chosen.id), _("`kata grade` makes an attempt."))
    script = app.history.report(failed[-1].id).get("repro") or ""
    if not script:
        sentence = _("The last failed attempt at {kata} has no call that a script could repeat.")
        hint = _("`kata grade` tells what failed: the file did not load, or the failure lies in no single call.")
        raise NothingToReproduce(sentence.format(kata=chosen.id), hint)

    from grader.show.console import console, next_step, say  # noqa: PLC0415 - rich is for people
    from grader.show.times import moment  # noqa: PLC0415

    written, older = app.workspace.write_repro(chosen.id, script)
    screen = console()
    if older:
        say(screen, _("The older script is now {path}.").format(path=shown(older)))
    sentence = _("{path} repeats the smallest failing call of the attempt of {moment}.")
    say(screen, sentence.format(path=shown(written), moment=moment(failed[-1].at)))
    next_step(screen, _("`python -m pdb {path}`").format(path=shown(written)))


def _named_by(path: Path | None) -> str | None:
    """Return the kata that a file's own name names: `--file other/mha.py` is an answer to mha."""
    name = path.stem.replace("_", "-") if path else ""
    return name if catalog.exists(name) else None


def _keep(app: App, request: "session.Request", *, own: bool) -> None:
    # Grading a file elsewhere makes no workspace; its version is in the history all the same.
    if not own and not app.workspace.folder.is_dir():
        return
    try:
        app.workspace.keep(request.kata, request.source)
    except WorkspaceError as error:
        app.warn(_("This version of the file could not be kept. {reason}").format(reason=error.message))


def _graded(grader: "session.Session", request: "session.Request") -> dict[str, Any]:
    from grader.show.progress import Progress  # noqa: PLC0415 - while torch is loading

    with Progress(request.kata) as progress:
        try:
            return grader.grade(request, progress)
        except (GraderFailed, UsageError):
            raise
        except Exception as error:
            failure = crash(error)
            raise GraderFailed(failure.message, failure.hint) from error


def _error_report(request: "session.Request", error: KataError) -> dict[str, Any]:
    return {
        "schema": 1,
        "kata": request.kata,
        "file": request.filename,
        "verdict": "error",
        "message": error.in_one_line(),
        "cases": [],
        "mistakes": [],
        "families": {},
        "printed": "",
        "seed": request.seed,
        "seconds": 0.0,
        "sandbox": [],
        "sandbox_gaps": [],
        "device": request.device or "cpu",
        "versions": {"kata": __version__, "torch": "", "python": platform.python_version()},
    }


def _show(app: App, report: dict[str, Any], *, whole: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(report, indent=2))
        sys.stdout.flush()
        return
    from grader.show.console import console  # noqa: PLC0415 - rich is for people
    from grader.show.verdict import verdict  # noqa: PLC0415

    verdict(console(), report, whole=whole, then=_next_step(app, report, whole=whole))


def _next_step(app: App, report: dict[str, Any], *, whole: bool) -> str:
    if not whole:
        return _("`kata grade {kata}` runs every case.").format(kata=report["kata"])
    done = app.done()
    passed = {kata_id for kata_id, summary in done.items() if summary.passed} | {report["kata"]}
    then = catalog.following(passed, after=report["kata"])
    if then is None:
        return _("That was the last open kata of the course.")
    sentence = _("`kata start {kata}`: {title}, {minutes} min")
    return sentence.format(kata=then.id, title=then.title[app.lang], minutes=then.minutes)


def _record(app: App, request: "session.Request", report: dict[str, Any]) -> None:
    app.ask(
        lambda history: history.record(request.kata, request.source, report, whole=not request.case),
        None,
        _("This attempt is not in your history."),
    )
