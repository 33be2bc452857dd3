"""The page in the browser: web."""

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import click

from grader.cli.base import App, KataCommand, examples
from grader.errors import UsageError, WorkspaceError
from grader.language import _

NEEDED = ("starlette", "uvicorn")
SERVE = "grader.web.serve"
"""By name: that room stands above this one."""


@click.command(
    "web",
    cls=KataCommand,
    short_help="The course in your browser.",
    epilog=examples("kata web", "kata web --port 8800 --no-browser"),
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Listen there; else at any port that is free.")
@click.option("--no-browser", is_flag=True, help="Print the link only.")
@click.pass_obj
def web_command(app: App, port: int, no_browser: bool) -> None:
    """Open the course in your browser: tasks, an editor for your files, verdicts, hints, talk, review, mock interviews.

    It works on the files of your workspace, as every other command does, and each save is graded. The page is for you
    and this machine alone: the link holds a key. Ctrl-C ends it.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        sentence = _("`kata web` needs {packages}, which this installation does not have.")
        raise UsageError(
            sentence.format(packages=_(", ").join(missing)),
            _('`pip install "attention-kata[web]"` brings them; from a clone: `pip install -e ".[web]"`.'),
        )
    app.remember_workspace()
    try:
        folder = app.workspace.folder.absolute()
    except OSError as error:  # a folder that somebody has removed under the shell
        raise WorkspaceError(app.any_workspace.folder, error) from error
    room: Any = import_module(SERVE)
    room.serve(folder, app.lang, port=port, browser=not no_browser, say=_say)


def _say(sentence: str) -> None:
    click.echo(sentence)
    # Whoever reads this in a pipe waits for the link.
    sys.stdout.flush()
