"""Help with a kata: hint, solution."""

import click

from grader.cli.base import App, KataCommand, examples, kata_names
from grader.errors import NotPassedYet
from grader.history import Summary
from grader.language import _
from grader.text import shown


@click.command(
    "hint",
    cls=KataCommand,
    short_help="The next hint, one step further each time.",
    epilog=examples("kata hint", "kata hint mha"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.pass_obj
def hint_command(app: App, kata: str | None) -> None:
    """Show the next hint for KATA, one step further each time; it is noted in your history."""
    from grader.show.console import console, markdown, next_step, say  # noqa: PLC0415 - rich is for people

    chosen = app.kata(kata)
    rungs = chosen.hints(app.lang)
    first: int | None = 1
    number = app.ask(
        lambda history: history.take_hint(chosen.id, len(rungs)),
        first,
        _("The hint could not be noted, so the next call shows the same one."),
    )
    screen = console()
    if number is None:
        sentence = _("These are all {count} hints for {kata}; there is none left.")
        say(screen, sentence.format(count=len(rungs), kata=chosen.id))
        screen.print()
    for heading, text in rungs if number is None else rungs[number - 1 : number]:
        markdown(screen, f"## {heading}\n\n{text}")
        screen.print()
    if number is None or number == len(rungs):
        next_step(screen, _("`kata solution {kata} --give-up` shows the solution.").format(kata=chosen.id))
    else:
        sentence = _("hint {number} of {count}; `kata hint {kata}` shows the next one.")
        next_step(screen, sentence.format(number=number, count=len(rungs), kata=chosen.id))


@click.command(
    "solution",
    cls=KataCommand,
    short_help="The model answer, once you have passed.",
    epilog=examples("kata solution mha", "kata solution --diff", "kata solution --give-up"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--give-up", is_flag=True, help="Show it before a pass; this is noted in your history.")
@click.option("--diff", is_flag=True, help="Show what has to change in your file instead.")
@click.pass_obj
def solution_command(app: App, kata: str | None, give_up: bool, diff: bool) -> None:
    """Show the model answer to KATA, once you have passed it."""
    from grader.show.console import console, difference, python  # noqa: PLC0415 - rich is for people

    chosen = app.kata(kata)
    passed = app.done().get(chosen.id, Summary()).passed
    if not passed and not give_up:
        raise NotPassedYet(chosen.id)
    answer = app.answer(chosen.id) if diff else ""
    app.ask(
        lambda history: history.reveal(chosen.id, gave_up=not passed),
        None,
        _("That the solution was shown could not be noted."),
    )
    if diff:
        path = shown(app.workspace.path(chosen.id))
        difference(console(), answer, chosen.reference(), (path, _("solution")))
    else:
        python(console(), chosen.reference())
