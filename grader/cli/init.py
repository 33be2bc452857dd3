"""Files for where people work: init."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any, Final

import click

from grader.cli.base import App, KataCommand, examples
from grader.errors import UsageError, WorkspaceError
from grader.language import _
from grader.text import shown

PROBLEM: Final = r"^(.+?):(\d+):(\d+): (error|warning): (.*) \[([\w./-]+)\]$"
"""What a line of `--format lines` looks like: file, line, column, severity, text, name."""

TESTS: Final = '''\
"""Your answers as tests: written by `kata init --pytest`, and yours to change.

An answer is graded once, when its first test runs; it is not executed in this process.
"""

from functools import cache
from pathlib import Path

import pytest

from grader import api, catalog

WORKSPACE = {workspace}


@cache
def report(kata: str) -> api.Report:
    """Grade an answer."""
    return api.grade(kata, (WORKSPACE / catalog.filename(kata)).read_bytes())


def answers() -> list[tuple[str, str]]:
    """Return what has been begun, family by family."""
    begun = [kata for kata in catalog.katas().values() if (WORKSPACE / kata.filename).is_file()]
    return [(kata.id, family) for kata in begun for family in kata.families]


@pytest.mark.parametrize(("kata", "family"), answers())
def test_answer(kata: str, family: str) -> None:
    """All cases of a family pass."""
    found = report(kata)
    if found["verdict"] == "error":
        pytest.skip(found["message"])
    if not found["cases"]:
        pytest.fail(found["message"], pytrace=False)
    failed = [case for case in found["cases"] if case["outcome"] not in ("passed", "skipped")]
    told = [[case[key] for key in ("title", "where", "call", "message")] for case in failed if case["family"] == family]
    if told:
        pytest.fail("\\n\\n".join("\\n".join(filter(None, parts)) for parts in told), pytrace=False)
'''


@click.command(
    "init",
    cls=KataCommand,
    short_help="Set up an editor or a test explorer.",
    epilog=examples("kata init --vscode", "kata init --pytest"),
)
@click.option("--vscode", is_flag=True, help="Write .vscode/tasks.json: grade and watch, problems on their lines.")
@click.option("--pytest", "as_tests", is_flag=True, help="Write test_katas.py: your answers as tests.")
@click.option("--print", "only_print", is_flag=True, help="Print the file instead of writing it.")
@click.pass_obj
def init_command(app: App, *, vscode: bool, as_tests: bool, only_print: bool) -> None:
    """Write a file that lets an editor or a test explorer grade your answers. A file that is there is left as it is."""
    if vscode == as_tests:
        raise click.UsageError(_("--vscode or --pytest says what is set up."))
    if vscode:
        path, text = Path(".vscode", "tasks.json"), json.dumps(tasks(_command()), indent=2) + "\n"
    else:
        path, text = Path("test_katas.py"), TESTS.format(workspace=_workspace(app.any_workspace.folder))
    if only_print:
        click.echo(text, nl=False)
        return
    if not _written(path, text):
        click.echo(_("{path} is as it should be.").format(path=shown(path)))
        return
    click.echo(_("{path} is written.").format(path=shown(path)))


def tasks(command: list[str]) -> dict[str, Any]:
    """Return tasks.json for a command that starts kata."""
    from grader.show.problems import BEGINS, ENDS  # noqa: PLC0415 - with all that watch shows

    matcher = {
        "owner": "kata",
        "source": "kata",
        "fileLocation": ["autoDetect", "${workspaceFolder}"],
        "pattern": {"regexp": PROBLEM, "file": 1, "line": 2, "column": 3, "severity": 4, "message": 5, "code": 6},
    }
    background = {"activeOnStart": False, "beginsPattern": f"^{BEGINS} ", "endsPattern": f"^{ENDS} "}
    common = {"type": "process", "command": command[0], "options": {"cwd": "${workspaceFolder}"}}
    return {
        "version": "2.0.0",
        "tasks": [
            common
            | {
                "label": "kata: grade this file",
                "args": [*command[1:], "grade", "${file}", "--format", "lines"],
                "group": {"kind": "test", "isDefault": True},
                "presentation": {"reveal": "silent", "clear": True},
                "problemMatcher": matcher,
            },
            common
            | {
                "label": "kata: watch this file",
                "args": [*command[1:], "watch", "${file}", "--format", "lines"],
                "isBackground": True,
                "presentation": {"reveal": "silent", "panel": "dedicated"},
                "problemMatcher": matcher | {"background": background},
            },
        ],
    }


def _command() -> list[str]:
    """Return what starts kata: the command where an editor will find it, else this Python."""
    return ["kata"] if shutil.which("kata") else [sys.executable, "-m", "grader"]


def _workspace(folder: Path) -> str:
    """Return the workspace as an expression of the file: beside it where it lies below."""
    try:
        below = folder.absolute().relative_to(Path.cwd())
    except ValueError:
        return f"Path({str(folder.absolute())!r})"
    return f"Path(__file__).parent / {str(below)!r}"


def _written(path: Path, text: str) -> bool:
    """Write a file that is not there; False where it says the same already. Raises UsageError where it says another."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        if path.is_file() and path.read_text(encoding="utf-8", errors="replace") == text:
            return False
        raise UsageError(
            _("{path} is there already.").format(path=shown(path)),
            _("--print shows what would be written, for you to add."),
        ) from None
    except OSError as error:
        raise WorkspaceError(path, error) from error
    return True
