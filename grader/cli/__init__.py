"""The command line: parse, call, show. No command that does not grade starts torch."""

from pathlib import Path

import click

from grader import DISTRIBUTION, __version__
from grader.cli.base import App, KataGroup, commands
from grader.cli.help import one_of
from grader.cli.options import one_folder, one_language
from grader.language import LANGUAGES, marked

COMMANDS = {
    "today": "practice",
    "list": "course",
    "start": "course",
    "show": "task",
    "grade": "grading",
    "watch": "watch",
    "hint": "hints",
    "solution": "hints",
    "reset": "files",
    "restore": "files",
    "status": "course",
    "review": "review",
    "talk": "talk",
    "mock": "mock",
    "plan": "practice",
    "web": "web",
    "repro": "grading",
    "prompts": "evaluating",
    "eval": "evaluating",
    "init": "init",
    "doctor": "doctor",
    "server": "server",
    "help": "task",
    "dev": "dev",
}

FIRST_ROUND = dict(
    zip(
        commands("kata list", "kata start mha", "kata grade", "kata hint"),
        (
            marked("what there is, and what comes next"),
            marked("write workspace/mha.py, show the task"),
            marked("grade it, as often as you like"),
            marked("one step further, when you are stuck"),
        ),
        strict=True,
    )
)


@click.group(
    cls=KataGroup,
    modules=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    first_round=FIRST_ROUND,
    invoke_without_command=True,
)
@click.option(
    "--workspace",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="KATA_WORKSPACE",
    callback=one_folder,
    help="Folder with your answers; KATA_WORKSPACE sets it too. Else `workspace` here or above, or the one used last.",
)
@click.option(
    "--lang",
    callback=one_language,
    shell_complete=one_of(LANGUAGES),
    envvar="KATA_LANG",
    metavar="LANGUAGE",
    help="Language of the tool and the tasks: en or zh; KATA_LANG sets it too, else the locale.",
)
@click.version_option(__version__, message=f"%(prog)s %(version)s ({DISTRIBUTION})")
@click.pass_context
def main(context: click.Context, workspace: Path | None, lang: str) -> None:
    """Interview practice for attention in PyTorch: write it, grade it, read what is wrong and why."""
    context.obj = App(workspace, lang)
    context.call_on_close(context.obj.close)
    if context.invoked_subcommand is None:
        from grader.cli.practice import home_command  # noqa: PLC0415 - as every command

        with home_command.make_context(context.info_name, [], parent=context) as alone:
            home_command.invoke(alone)
