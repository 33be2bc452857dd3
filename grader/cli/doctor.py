"""This machine: doctor."""

import json
import os
import platform
from pathlib import Path
from typing import Any

import click

from grader import __version__
from grader.cli.base import App, KataCommand, examples
from grader.errors import GraderFailed, StateError
from grader.history import data_folder
from grader.language import _


@click.command(
    "doctor",
    cls=KataCommand,
    short_help="Check this machine and where your work lies.",
    epilog=examples("kata doctor", "kata doctor --json"),
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def doctor_command(context: click.Context, as_json: bool) -> None:
    """Check this machine: Python, torch, devices, what the sandbox can hold here, where your work lies.

    Ends with 3 when answers cannot be graded or the history cannot be used.
    """
    app: App = context.obj
    found: dict[str, Any] = {
        "schema": 1,
        "kata": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        **_probed(app.lang),
        "state": _state(app),
        "workspace": _workspace(app.any_workspace.folder),
    }
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        from grader.show.console import console  # noqa: PLC0415 - rich is for people
        from grader.show.doctor import findings  # noqa: PLC0415

        findings(console(), found)
    context.exit(3 if found["error"] or found["state"]["problems"] else 0)


def _probed(lang: str) -> dict[str, Any]:
    from grader.client import session  # noqa: PLC0415 - the only part that starts torch

    try:
        with session.open() as grader:
            probe = grader.probe(lang)
    except GraderFailed as error:
        return {"error": error.in_one_line(), "grading": None}
    return {"error": "", "grading": {"torch": probe.get("versions", {}).get("torch", ""), **probe}}


def _state(app: App) -> dict[str, Any]:
    path = os.environ.get("KATA_HOME", "")
    try:
        path = str(data_folder() / "history.db")
        history = app.history
        attempts = sum(summary.attempts for summary in history.summaries().values())
    except StateError as error:
        app.heard(error)
        return {"path": path, "problems": [error.in_one_line()], "attempts": 0}
    problems = history.problems()
    if history.read_only:
        problems.append(_("it is read-only, so nothing new is recorded"))
    return {"path": path, "problems": problems, "attempts": attempts}


def _workspace(folder: Path) -> dict[str, Any]:
    problem = ""
    if folder.exists() and not folder.is_dir():
        problem = _("a file is in the place of the folder")
    elif folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
        problem = _("you have no permission to write there")
    try:
        path = folder.absolute()
    except OSError:  # somebody has removed the folder that one stands in
        path, problem = folder, _("the folder that you are in is gone")
    return {"path": str(path), "exists": folder.is_dir(), "problem": problem}
