"""The server that stays between gradings: server status, server stop."""

import json

import click

from grader.cli.base import KataCommand, examples
from grader.cli.help import SpokenGroup
from grader.language import _, plural
from grader.text import shown


@click.group(
    "server",
    cls=SpokenGroup,
    short_help="The server that stays between gradings.",
    epilog=examples("kata server status"),
)
def server_command() -> None:
    """Look at the server that `kata grade` leaves running, so that the next grading need not import torch.

    It ends by itself a quarter of an hour after the last grading. KATA_SERVER=off keeps it from being started.
    """


@server_command.command(
    "status", cls=KataCommand, short_help="Whether one is running.", epilog=examples("kata server status --json")
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def status_command(as_json: bool) -> None:
    """Tell which servers run, since when, and for which kata a judge is prepared."""
    from grader.client import standing  # noqa: PLC0415 - sockets are for this command alone

    found = [
        {"socket": str(path), **(standing.ask(server, "status") or {"pid": 0, "problem": _("does not answer")})}
        for path, server in standing.servers()
    ]
    if as_json:
        click.echo(json.dumps({"schema": 1, "wanted": standing.is_wanted(), "servers": found}, indent=2))
        return
    if not found:
        click.echo(
            _("No server is running.") if standing.is_wanted() else _("No server is running; KATA_SERVER is off.")
        )
    for one in found:
        if not one["pid"]:
            click.echo(_("The server at {path} does not answer.").format(path=one["socket"]))
            continue
        minutes, gradings = round(one["seconds"] / 60), one["gradings"]
        sentence = plural(
            "Process {pid} has been running for {minutes} min, {gradings} grading so far.",
            "Process {pid} has been running for {minutes} min, {gradings} gradings so far.",
            gradings,
        )
        click.echo(sentence.format(pid=one["pid"], minutes=minutes, gradings=gradings))
        if one["waiting_for"]:
            click.echo(_("A judge is prepared for {kata}.").format(kata=one["waiting_for"]))


@server_command.command("stop", cls=KataCommand, short_help="End all of yours.", epilog=examples("kata server stop"))
def stop_command() -> None:
    """End every server of yours. A grading that is running ends with it and is not recorded."""
    from grader.client import standing  # noqa: PLC0415 - as above

    stopped = 0
    for path, server in standing.servers():
        if standing.ask(server, "stop") is None:
            click.echo(_("The server at {path} does not answer.").format(path=shown(path)), err=True)
        else:
            stopped += 1
    none = _("No server was running.")
    done = plural("{count} server has ended.", "{count} servers have ended.", stopped).format(count=stopped)
    click.echo(done if stopped else none)
