"""Grading: grade, repro."""

import json
import re
import shlex
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from grader.cli.attempt import EXIT_CODES, finished, graded, keep, page, record
from grader.cli.base import App, KataCommand, Target, examples, kata_names
from grader.cli.formatting import form_of, format_options, refuse_many
from grader.cli.guard import refuse_any, touched
from grader.cli.mocking import grade_in_mock
from grader.cli.place import answered_by, defined_in, is_own, is_path, is_same
from grader.client.broken import error_report, refused, unreadable
from grader.errors import GraderFailed, NoCurrentKata, NothingToReproduce, NotUtf8, UsageError
from grader.language import _
from grader.text import clean, shown
from grader.transport.request import Request
from grader.workspace import read_answer

_DEVICE = re.compile(r"cpu|mps|cuda(:\d+)?")


def one_device(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    """Refuse what is no device."""
    if name and not _DEVICE.fullmatch(name):
        raise click.BadParameter(_("'{name}' is none of cpu, cuda, cuda:N, mps.").format(name=name))
    return name


@click.command(
    "grade",
    cls=KataCommand,
    short_help="Grade your answer.",
    epilog=examples(
        "kata grade",
        "kata grade mha --case mask",
        "kata grade mha --debug",
        "kata grade workspace/mha.py",
        "kata grade --file other/mha.py --json",
        "kata grade --all",
        "kata grade mha --file submissions/ --jobs 4 --json",
    ),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option(
    "--file",
    "paths",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Grade this file instead of the workspace's; several, or a folder, at once.",
)
@click.option("--all", "every", is_flag=True, help="Grade every answer in the workspace.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="So many answers at a time; else one for each core.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON; of many, a line each as it is done.")
@click.option("--case", default="", metavar="TEXT", help="Only the cases whose name contains TEXT.")
@click.option(
    "--device", default="", metavar="NAME", callback=one_device, help="Also run the device family on cuda or mps."
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Repeat the inputs of an earlier grading.")
@click.option("--debug", is_flag=True, help="Grade the debug round of the kata.")
@click.option("--full", is_flag=True, help="Show all causes of a failure in full, and every failing case.")
@format_options
@click.pass_context
def grade_command(
    context: click.Context,
    /,
    *,
    kata: str | None,
    paths: tuple[Path, ...],
    every: bool,
    jobs: int | None,
    as_json: bool,
    case: str,
    device: str,
    seed: int | None,
    debug: bool,
    full: bool,
    **shape: Any,
) -> None:
    """Grade your answer to KATA; without KATA, what you worked on last: an answer or a debug round.

    KATA is a name, or the path of its file. A file that is not in your workspace is graded and not recorded.

    Ends with 0 when the answer passed, 1 when it failed, 2 for wrong use, 3 when the grader itself failed; of many
    answers, the highest of these counts.
    """
    app: App = context.obj
    if kata and not paths and _is_elsewhere(app, kata):
        paths, kata = (Path(kata),), None
    if every and (kata or paths or debug):
        raise click.UsageError(_("--all takes no KATA, no --file and no --debug."))
    if jobs and not (every or paths):
        raise click.UsageError(_("--jobs goes with --all or --file."))
    form = form_of(as_json=as_json, **shape)
    if every or jobs or len(paths) > 1 or any(path.is_dir() for path in paths):
        from grader.cli import many  # noqa: PLC0415 - seldom

        refuse_any(app)
        answers = many.given(app, paths, partial(_target_of, app, kata, debug=debug)) if paths else many.begun(app)
        refuse_many(form, full=full)
        options = many.Options(case=case, device=device, seed=seed, jobs=jobs, as_json=as_json, form=form)
        context.exit(form.code(many.grade_many(app, answers, options)))
    path = paths[0] if paths else None
    target = _target(app, kata, path, debug=debug)
    own = path is None or is_same(path, app.any_workspace.path(target.name))
    asked = {"seed": seed, "case": case, "device": device}
    plain = own and not (as_json or form.name or case or device or seed)
    told = grade_in_mock(app, target, plain=plain)
    if told is not None:
        context.exit(EXIT_CODES[told["verdict"]] if told else 0)
    if form.name and path and not own and (unread := _refused(app, target, path)):
        # In a class what was handed in, or was not, is what is marked.
        form.write([(unread, "")])
        form.keep(unread, "", whole=not case)
        context.exit(0 if form.exit_zero else UsageError.exit_code)
    source, report = _grade(app, target, path, asked, own=own, named=bool(kata or path or debug))
    report, planted = finished(app, target, report, whole=own and not case)
    text = source if isinstance(source, str) else ""
    try:
        if form.name:
            form.write([(report, text)])
        elif as_json:
            click.echo(json.dumps(report, indent=2))
            sys.stdout.flush()
        else:
            from grader.show.console import console  # noqa: PLC0415 - rich is for people

            drawn = page(app, target.name, report, planted, whole=not case, own=own)
            (drawn.whole if full else drawn)(console())
        form.keep(report, text, whole=not case)
    finally:
        # After the verdict, which must not wait for a disk; also when nobody reads it to its end (`| head`).
        if own:
            record(app, target.name, source, report, whole=not case)
    context.exit(form.code(EXIT_CODES[report["verdict"]]))


def _refused(app: App, target: Target, path: Path) -> dict[str, Any] | None:
    """Return the report of a file that cannot be read as an answer, None where it can."""
    try:
        app.answer(target.name, path)
    except NotUtf8:
        return None
    except UsageError as error:
        return refused(Request(target.kata, "", shown(path), lang=app.lang), error)
    return None


def _grade(
    app: App, target: Target, path: Path | None, asked: dict[str, Any], *, own: bool, named: bool
) -> tuple[str | bytes, dict[str, Any]]:
    """Grade one file; return what it holds, and the report. Of the learner's own, this version is kept first."""
    unread: NotUtf8 | None = None
    source: str | bytes
    try:
        source = app.answer(target.name, path)
    except NotUtf8 as error:
        source, unread = error.data, error
    if own:
        app.touch(target, named=named)
        app.remember_workspace()
        keep(app, target.name, source)
    from grader.client import session  # noqa: PLC0415 - after the errors that cost nothing

    filename = shown(path or app.workspace.path(target.name))
    text = "" if isinstance(source, bytes) else source
    request = session.Request(kata=target.kata, source=text, filename=filename, lang=app.lang, **asked)
    if unread:
        return source, unreadable(request, unread)
    try:
        with session.open(stays=True) as grader:
            from grader.show.progress import Progress  # noqa: PLC0415 - torch is loading meanwhile

            with Progress(target.kata) as progress:
                return source, graded(grader, request, progress)
    except GraderFailed as error:
        return source, error_report(request, error)


@click.command(
    "repro",
    cls=KataCommand,
    short_help="Write the failing call as a script.",
    epilog=examples("kata repro", "python workspace/repro_mha.py"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--debug", is_flag=True, help="The last failed attempt of the debug round.")
@click.pass_obj
def repro_command(app: App, kata: str | None, debug: bool) -> None:
    """Write the failing case that the page of the last failed attempt shows as a script for a debugger.

    It makes all calls of the case, and ends with what differs, or with "agrees now".
    """
    target = touched(app, kata, debug=debug)
    failed = [attempt for attempt in app.history.attempts(target.name) if attempt.verdict == "failed"]
    if not failed:
        sentence = _("No attempt at {kata} has failed, so there is nothing to reproduce.")
        raise NothingToReproduce(sentence.format(kata=target.typed), _("`kata grade` makes an attempt."))
    script = app.history.report(failed[-1].id).get("repro") or ""
    if not script:
        sentence = _("The last failed attempt at {kata} has no call that a script could repeat.")
        hint = _("`kata grade` tells what failed: the file did not load, or the failure lies in no single call.")
        raise NothingToReproduce(sentence.format(kata=target.typed), hint)

    from grader.show.console import console, heading, next_step, say  # noqa: PLC0415 - rich is for people
    from grader.show.times import moment  # noqa: PLC0415

    written, older = app.workspace.write_repro(target.kata, script)
    screen = console()
    heading(screen, target.typed)
    if older:
        say(screen, _("The older script is now {path}.").format(path=shown(older)))
    sentence = _("{path} repeats the failing case of the attempt of {moment}.")
    say(screen, sentence.format(path=shown(written), moment=moment(failed[-1].at)))
    next_step(screen, _("`{python} -m pdb {path}`").format(python=_python(), path=shlex.quote(shown(written))))


def _python() -> str:
    """Return what starts this Python from a shell, which has torch: `python` where that is it, else its path."""
    ours = Path(sys.executable).absolute()
    named = shutil.which("python")
    return "python" if named and Path(named).absolute().parent == ours.parent else shlex.quote(clean(str(ours)))


def _target(app: App, kata: str | None, path: Path | None, *, debug: bool) -> Target:
    """Return what to grade; a file's own name counts: `--file other/mha.py` is an answer to mha.

    Where its name says nothing what it defines does, and else it is an answer to the current kata.
    """
    if path is None:
        return app.target(kata, debug=debug)
    target = _target_of(app, kata, path, debug=debug)
    if target is not None:
        return target
    try:
        return Target(app.kata_id(None), debug)
    except NoCurrentKata as error:
        read_answer(path)  # where it is not there, that is what is wrong
        nobody = _("Neither its name nor what it defines says which kata {path} answers.").format(path=shown(path))
        raise UsageError(
            nobody, _("`kata grade KATA --file {path}` says it.").format(path=shlex.quote(shown(path)))
        ) from error


def _target_of(app: App, kata: str | None, path: Path, *, debug: bool) -> Target | None:
    if kata:
        return app.target(kata, debug=debug)
    answered = answered_by(path)
    if answered is None and len(possible := defined_in(path)) == 1:
        answered = possible[0]
    return Target.of(answered, debug=debug) if answered else None


def _is_elsewhere(app: App, word: str) -> bool:
    """Tell whether what was typed in the place of a kata is a file, or a folder, that is none of the learner's own."""
    path = Path(word)
    return is_path(word) and path.exists() and not is_own(path, app.any_workspace.folder)
