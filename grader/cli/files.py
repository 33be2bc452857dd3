"""The learner's files: reset, restore."""

import json

import click

from grader import catalog
from grader.cli.base import App, KataCommand, Target, examples, kata_names
from grader.errors import NoDebugRound
from grader.language import _
from grader.text import shown
from grader.versions import Version, chosen, versions
from grader.workspace import encoded


@click.command(
    "reset",
    cls=KataCommand,
    short_help="Begin anew; your file is kept.",
    epilog=examples("kata reset", "kata reset mha"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--debug", is_flag=True, help="The debug round of the kata: plant the same mistakes again.")
@click.pass_obj
def reset_command(app: App, kata: str | None, debug: bool) -> None:
    """Begin KATA anew: your file is moved into workspace/.attempts, the stub takes its place."""
    target = app.touched(kata, debug=debug)
    path = shown(app.workspace.path(target.name))
    stub, *others = beginnings(app, target)
    moved = app.workspace.reset(target.name, stub, others)
    app.remember_workspace()
    if moved is None:
        click.echo(_("{path} is still as `kata start` wrote it.").format(path=path))
        return
    app.ask(
        lambda history: history.begin(target.name, anew=True),
        None,
        _("The clock of {kata} could not be set back.").format(kata=target.typed),
    )
    click.echo(_("Your file is now {moved}; {path} is new.").format(moved=shown(moved), path=path))
    click.echo(_("`kata restore {kata}` brings it back.").format(kata=target.typed))


@click.command(
    "restore",
    cls=KataCommand,
    short_help="Bring back an earlier version of your file.",
    epilog=examples("kata restore", "kata restore mha --list", "kata restore --attempt 3"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--debug", is_flag=True, help="A version of the debug round's file.")
@click.option("--attempt", type=int, metavar="N", help="The version to bring back; else the newest other one.")
@click.option("--list", "as_list", is_flag=True, help="List the versions instead.")
@click.option("--json", "as_json", is_flag=True, help="With --list: print one JSON document.")
@click.pass_obj
def restore_command(
    app: App, *, kata: str | None, debug: bool, attempt: int | None, as_list: bool, as_json: bool
) -> None:
    """Bring back an earlier version of your answer to KATA; the present file is kept in turn."""
    if attempt is not None and as_list:
        raise click.UsageError(_("--attempt and --list exclude each other."))
    if as_json and not as_list:
        raise click.UsageError(_("--json goes with --list."))
    target = app.target(kata, debug=debug)
    history = app.usable_history(_("Only the versions in the workspace are known."))
    known = versions(app.workspace, history, target.name)
    if as_list:
        _list(app, target, known, as_json=as_json)
        return
    version = chosen(known, app.workspace, target.name, attempt)
    app.touch(target, named=bool(kata or debug))
    path = shown(app.workspace.path(target.name))
    moved = app.workspace.restore(target.name, version.read(), *beginnings(app, target))
    app.remember_workspace()
    sentence = _("{path} is version {number} again.")
    click.echo(sentence.format(path=path, number=version.number))
    if moved:
        click.echo(_("What was there is kept as {moved}.").format(moved=shown(moved)))


def _list(app: App, target: Target, known: list[Version], *, as_json: bool) -> None:
    if as_json:
        listed = [_listed(version) for version in known]
        document = {"schema": 1, "kata": target.kata, "debugging": target.debug, "versions": listed}
        click.echo(json.dumps(document, indent=2))
        return
    from grader.show.attempts import versions as show_versions  # noqa: PLC0415 - rich is for people
    from grader.show.console import console  # noqa: PLC0415

    present = app.workspace.present(target.name)
    here = [version.number for version in known if present is not None and encoded(version.read()) == present]
    show_versions(console(), target.typed, known, here=here)


def beginnings(app: App, target: Target) -> list[str]:
    """Return the file that `kata start` writes, the stub or the one with the planted mistakes; others as good as it."""
    if not target.debug:
        kata = catalog.find(target.kata)
        return [app.beginning(kata), *app.beginnings(kata)]
    debug_round = app.history.debug_round(target.name)
    if debug_round is None:
        raise NoDebugRound(target.kata)
    return [str(debug_round.planted["source"])]


def _listed(version: Version) -> dict[str, object]:
    attempt = version.attempt
    return {
        "version": version.number,
        "at": version.at.isoformat(),
        "verdict": attempt.verdict if attempt else None,
        "passed": attempt.passed if attempt else None,
        "total": attempt.total if attempt else None,
    }
