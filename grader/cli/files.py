"""The learner's files: reset, restore."""

import json

import click

from grader.cli.base import App, KataCommand, examples, kata_names
from grader.language import _
from grader.text import shown
from grader.versions import Version, chosen, versions


@click.command(
    "reset",
    cls=KataCommand,
    short_help="Begin anew; your file is kept.",
    epilog=examples("kata reset", "kata reset mha"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.pass_obj
def reset_command(app: App, kata: str | None) -> None:
    """Begin KATA anew: your file is moved into workspace/.attempts, the stub takes its place."""
    found = app.kata(kata)
    path = shown(app.workspace.path(found.id))
    moved = app.workspace.reset(found.id, found.stub())
    if moved is None:
        click.echo(_("{path} is still as `kata start` wrote it.").format(path=path))
        return
    app.ask(
        lambda history: history.begin(found.id, anew=True),
        None,
        _("The clock of {kata} could not be set back.").format(kata=found.id),
    )
    click.echo(_("Your file is now {moved}; {path} is new.").format(moved=shown(moved), path=path))
    click.echo(_("`kata restore {kata}` brings it back.").format(kata=found.id))


@click.command(
    "restore",
    cls=KataCommand,
    short_help="Bring back an earlier version of your file.",
    epilog=examples("kata restore", "kata restore mha --list", "kata restore --attempt 3"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--attempt", type=int, metavar="N", help="The version to bring back; else the newest other one.")
@click.option("--list", "as_list", is_flag=True, help="List the versions instead.")
@click.option("--json", "as_json", is_flag=True, help="With --list: print one JSON document.")
@click.pass_obj
def restore_command(app: App, kata: str | None, attempt: int | None, as_list: bool, as_json: bool) -> None:
    """Bring back an earlier version of your answer to KATA; the present file is kept in turn."""
    if attempt is not None and as_list:
        raise click.UsageError(_("--attempt and --list exclude each other."))
    if as_json and not as_list:
        raise click.UsageError(_("--json goes with --list."))
    found = app.kata(kata)
    history = app.usable_history(_("Only the versions in the workspace are known."))
    known = versions(app.workspace, history, found.id)
    if as_json:
        document = {"schema": 1, "kata": found.id, "versions": [_listed(version) for version in known]}
        click.echo(json.dumps(document, indent=2))
        return
    version = chosen(known, app.workspace, found.id, attempt)
    if as_list:
        from grader.show.attempts import versions as show_versions  # noqa: PLC0415 - rich is for people
        from grader.show.console import console  # noqa: PLC0415

        show_versions(console(), found.id, known)
        return
    path = shown(app.workspace.path(found.id))
    moved = app.workspace.restore(found.id, version.read(), found.stub())
    sentence = _("{path} is version {number} again.")
    click.echo(sentence.format(path=path, number=version.number))
    if moved:
        click.echo(_("What was there is kept as {moved}.").format(moved=shown(moved)))


def _listed(version: Version) -> dict[str, object]:
    attempt = version.attempt
    return {
        "version": version.number,
        "at": version.at.isoformat(),
        "verdict": attempt.verdict if attempt else None,
        "passed": attempt.passed if attempt else None,
        "total": attempt.total if attempt else None,
    }
