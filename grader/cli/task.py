"""What is asked for: show, help."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import catalog
from grader.cli.base import App, KataCommand, examples, kata_names
from grader.errors import UsageError
from grader.language import _
from grader.text import clean

if TYPE_CHECKING:
    from rich.console import Console

RULES = "rules"


@click.command(
    "show",
    cls=KataCommand,
    short_help="The task again.",
    epilog=examples("kata show", "kata show mha", "kata show mha --weights", "kata show masks --svg masks.svg"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--weights", is_flag=True, help="Draw what your answer computes of a small example instead.")
@click.option("--svg", type=click.Path(path_type=Path, dir_okay=False), help="Write that drawing into a file.")
@click.pass_context
def show_command(context: click.Context, kata: str | None, *, weights: bool, svg: Path | None) -> None:
    """Show the task of KATA again; without KATA, that of the current one.

    With --weights your answer draws itself: attention weights, masks, encodings of a small sentence, and once you have
    passed, the model answer's beside them.
    """
    from grader.show.console import console  # noqa: PLC0415 - rich is for people

    app: App = context.obj
    if not (weights or svg):
        task(app.kata(kata), app.lang, console())
        return
    from grader.cli.drawing import draw  # noqa: PLC0415 - only this needs a judge

    context.exit(draw(app, kata, console(), svg))


def task(chosen: catalog.Kata, lang: str, screen: "Console") -> None:
    """Show the task of a kata."""
    from grader.show.console import markdown  # noqa: PLC0415 - rich is for people

    markdown(screen, chosen.brief(lang))


def topics(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete what there is help on in the shell."""
    whole = context.find_root().command
    known = [RULES, *(whole.list_commands(context) if isinstance(whole, click.Group) else ())]
    return [word for word in known if word.startswith(incomplete)]


@click.command(
    "help",
    cls=KataCommand,
    short_help="What holds in every kata: `kata help rules`.",
    epilog=examples("kata help rules", "kata help grade"),
)
@click.argument("topic", required=False, shell_complete=topics)
@click.pass_context
def help_command(context: click.Context, topic: str | None) -> None:
    """Show what holds in every kata, with `rules` as the TOPIC; of a command its help page, else the overview."""
    whole = context.find_root()
    commands = whole.command
    if topic == RULES:
        from grader.show.console import console, markdown  # noqa: PLC0415 - rich is for people

        markdown(console(), catalog.rules(context.obj.lang))
    elif topic is None:
        click.echo(commands.get_help(whole))
    else:
        assert isinstance(commands, click.Group)
        command = commands.get_command(whole, topic)
        if command is None:
            sentence = _("There is no help on '{topic}'; there is on `rules` and on each command.")
            raise UsageError(sentence.format(topic=clean(topic, 80)))
        own = command.context_class(command, info_name=topic, parent=whole)
        click.echo(command.get_help(own))
