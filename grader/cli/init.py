"""Files for where people work: init."""

import json
import shutil
import sys
from pathlib import Path

import click

from grader.cli.base import App, KataCommand, examples
from grader.errors import UsageError, WorkspaceError
from grader.formats.projects import TESTS, tasks
from grader.language import _
from grader.text import shown


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
    if vscode and as_tests:
        raise click.UsageError(_("--vscode and --pytest exclude each other."))
    if not (vscode or as_tests):
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
        hint = _("It belongs into the folder that you are in; --print shows what would be written.")
        raise WorkspaceError(path, error, hint) from error
    return True
