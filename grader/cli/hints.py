"""Help with a kata: hint, solution."""

from typing import TYPE_CHECKING

import click

from grader import catalog
from grader.cli.base import App, KataCommand, Target, examples, kata_names
from grader.cli.guard import refuse
from grader.errors import NotPassedYet, UsageError
from grader.history import History, Summary
from grader.language import _
from grader.text import clean, shown

if TYPE_CHECKING:
    from rich.console import Console

MOST_LINES = 2000
"""So many lines of an answer are compared with the solution: the time grows with their square."""


@click.command(
    "hint",
    cls=KataCommand,
    short_help="The next hint, one step further each time.",
    epilog=examples("kata hint", "kata hint mha"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--debug", is_flag=True, help="A hint for the debug round of the kata.")
@click.pass_obj
def hint_command(app: App, kata: str | None, debug: bool) -> None:
    """Show the next hint for KATA; it is noted in your history.

    After a failed grading that named a mistake, the hint that helps against it comes first; else each goes one step
    further.
    """
    target = app.touched(kata, debug=debug)
    from grader.show.console import console  # noqa: PLC0415 - rich is for people

    show_hint(app, target, console())


def show_hint(app: App, target: Target, screen: "Console") -> bool:
    """Take the next hint and show it; tell whether there is one after it. Raises MockRuns."""
    refuse(app, target.kata)
    from grader.show.console import heading  # noqa: PLC0415 - rich is for people

    chosen = catalog.find(target.kata)
    heading(screen, target.typed)
    return _debug_hint(app, chosen, screen) if target.debug else _hint(app, target, screen)


def _hint(app: App, target: Target, screen: "Console") -> bool:
    from grader.show.console import markdown, next_step, say  # noqa: PLC0415 - rich is for people

    chosen = catalog.find(target.kata)
    rungs = chosen.hints(app.lang)
    fitting, title = app.ask(lambda history: _fitting(history, target.name), (0, ""), "")
    order = [rung for rung in (fitting, *range(1, len(rungs) + 1)) if 0 < rung <= len(rungs)]
    first: int | None = 1
    number = app.ask(
        lambda history: history.take_hint(target.name, order),
        first,
        _("The hint could not be noted, so the next call shows the same one."),
    )
    taken = app.ask(lambda history: history.hints_taken(target.name), {number or 1}, "")
    if number is None:
        sentence = _("These are all {count} hints for {kata}; there is none left.")
        say(screen, sentence.format(count=len(rungs), kata=target.typed))
        screen.print()
    elif number == fitting:
        say(screen, _("Chosen because of your last grading: {title}.").format(title=clean(title)))
        screen.print()
    for heading, text in rungs if number is None else rungs[number - 1 : number]:
        markdown(screen, f"## {heading}\n\n{text}")
        screen.print()
    another = bool(set(order) - taken)
    if not another:
        next_step(screen, _("`kata solution {kata} --give-up` shows the solution.").format(kata=target.typed))
    else:
        sentence = _("hint {number} of {count}; `kata hint {kata}` shows the next one.")
        next_step(screen, sentence.format(number=number, count=len(rungs), kata=target.typed))
    return another


def _fitting(history: History, name: str) -> tuple[int, str]:
    """Return the rung that helps against the mistake of the last grading of this round, and its title; 0 for none."""
    gradings = history.attempts(name)
    started = history.started(name)
    if not gradings or gradings[-1].verdict != "failed" or (started and gradings[-1].at < started):
        return 0, ""
    mistakes = history.report(gradings[-1].id)["mistakes"]
    return (mistakes[0].get("hint", 0), mistakes[0]["title"]) if mistakes else (0, "")


def _debug_hint(app: App, chosen: catalog.Kata, screen: "Console") -> bool:
    from grader.cli import debugging  # noqa: PLC0415 - only debug rounds need the banks
    from grader.show.console import markdown, next_step, say  # noqa: PLC0415 - rich is for people

    hint = debugging.hint(app, chosen)
    if hint:
        markdown(screen, f"## {hint.heading}\n\n{hint.text}")
        screen.print()
    else:
        say(screen, _("These were all hints for what is still planted."))
    if hint and hint.another:
        next_step(screen, _("`kata hint {kata} --debug` shows the next one.").format(kata=chosen.id))
    else:
        sentence = _("`kata solution {kata} --debug --give-up` shows what was planted.")
        next_step(screen, sentence.format(kata=chosen.id))
    return hint is not None and hint.another


@click.command(
    "solution",
    cls=KataCommand,
    short_help="The model answer, once you have passed.",
    epilog=examples("kata solution mha", "kata solution --diff", "kata solution --give-up", "kata solution --debug"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--give-up", is_flag=True, help="Show it before a pass; this is noted in your history.")
@click.option("--diff", is_flag=True, help="Show what has to change in your file instead.")
@click.option("--debug", is_flag=True, help="What was planted in the debug round of the kata, once it is repaired.")
@click.pass_obj
def solution_command(app: App, kata: str | None, *, give_up: bool, diff: bool, debug: bool) -> None:
    """Show the model answer to KATA, once you have passed it."""
    target = app.touched(kata, debug=debug)
    chosen = catalog.find(target.kata)
    refuse(app, chosen.id)
    if target.debug:
        _show_planted(app, target, _comparable(app, target) if diff else None, give_up=give_up)
        return
    from grader.show.console import console, difference, heading, python, say  # noqa: PLC0415 - rich is for people

    passed = _is_passed(app, target)
    if not passed and not give_up:
        raise NotPassedYet(target.typed)
    answer = _comparable(app, target) if diff else ""
    app.ask(
        lambda history: history.reveal(target.name, gave_up=not passed),
        None,
        _("That the solution was shown could not be noted."),
    )
    screen = console()
    if diff:
        from grader.practice.compare import comparable  # noqa: PLC0415 - for this alone

        names = shown(app.workspace.path(target.name)), _("solution")
        difference(screen, *comparable(answer, chosen.reference()), names)
        say(screen, _("Compared without comments, docstrings and annotations; your names as in the solution."))
        return
    if screen.is_terminal:  # in a pipe it is a file
        heading(screen, target.typed)
    python(screen, chosen.reference(app.lang))


def _is_passed(app: App, target: Target) -> bool:
    """Tell whether a kata was passed; of what is written again, whether it was this time."""
    if target.kind:
        return not app.ask(lambda history: history.under_way(target.name), True, "")
    return app.done().get(target.name, Summary()).passed


def _comparable(app: App, target: Target) -> str:
    """Return the text of the learner's file. Raises UsageError where a comparison would take minutes."""
    answer = app.answer(target.name)
    count = len(answer.splitlines())
    if count > MOST_LINES:
        sentence = _("{path} has {count} lines; a comparison stops at {most}.")
        path = shown(app.workspace.path(target.name))
        raise UsageError(
            sentence.format(path=path, count=count, most=MOST_LINES),
            _("`kata solution {kata}` shows the solution.").format(kata=target.typed),
        )
    return answer


def _show_planted(app: App, target: Target, answer: str | None, *, give_up: bool) -> None:
    from grader.cli import debugging  # noqa: PLC0415 - as above
    from grader.show.console import console, difference, heading  # noqa: PLC0415 - rich is for people
    from grader.show.debugging import reveal  # noqa: PLC0415

    planted = debugging.revealed(app, catalog.find(target.kata), give_up=give_up)
    screen = console()
    if answer is None:
        heading(screen, target.typed)
        reveal(screen, planted, app.lang)
    else:
        path = shown(app.workspace.path(target.name))
        difference(screen, answer, planted.sound, (path, _("solution")))
