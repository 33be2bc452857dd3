"""Help with a kata: hint, solution."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from grader import catalog
from grader.cli.base import App, KataCommand, Target, examples, kata_names
from grader.cli.guard import planted_in, refuse, touched
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
    target = touched(app, kata, debug=debug)
    from grader.show.console import console  # noqa: PLC0415 - rich is for people

    show_hint(app, target, console())


@dataclass(frozen=True, slots=True)
class Given:
    """A hint that was taken."""

    said: str
    """Why this one, or that there is no more; empty where there is nothing to say."""
    rungs: tuple[tuple[str, str], ...]
    """Heading and Markdown: of the hint, or of all where none is left."""
    number: int
    count: int
    another: bool
    """Whether there is one after it."""
    back: bool = False
    """Whether that is one that was left out before."""


def show_hint(app: App, target: Target, screen: "Console") -> bool:
    """Take the next hint and show it; tell whether there is one after it. Raises MockRuns."""
    given = take_hint(app, target)
    from grader.show.console import heading, markdown, next_step, say  # noqa: PLC0415 - rich is for people

    heading(screen, target.typed)
    if given.said:
        say(screen, given.said)
        if not target.debug:
            screen.print()
    for title, text in given.rungs:
        markdown(screen, f"## {title}\n\n{text}")
        screen.print()
    next_step(screen, _then(target, given))
    return given.another


def take_hint(app: App, target: Target) -> Given:
    """Take the next hint, which is noted in the history. Raises MockRuns, and NoDebugRound."""
    refuse(app, target.kata)
    chosen = catalog.find(target.kata)
    planted = app.ask(lambda history: planted_in(history, target.name), dict[str, Any](), "") if target.kind else {}
    return _planted_hint(app, target, planted) if target.debug or planted else _hint(app, target, chosen)


def _hint(app: App, target: Target, chosen: catalog.Kata) -> Given:
    rungs = chosen.hints(app.lang)
    fitting, title = app.ask(lambda history: _fitting(history, target.name), (0, ""), "")
    # One step further from the one that fits; those before it come last.
    start = fitting if 0 < fitting <= len(rungs) else 1
    order = [*range(start, len(rungs) + 1), *range(1, start)]
    first: int | None = 1
    number = app.ask(
        lambda history: history.take_hint(target.name, order),
        first,
        _("The hint could not be noted, so the next call shows the same one."),
    )
    taken = app.ask(lambda history: history.hints_taken(target.name), {number or 1}, "")
    said = ""
    if number is None:
        sentence = _("These are all {count} hints for {kata}; there is none left.")
        said = sentence.format(count=len(rungs), kata=target.typed)
    elif number == fitting:
        said = _("Chosen because of your last grading: {title}.").format(title=clean(title))
    shown_now = rungs if number is None else rungs[number - 1 : number]
    left = [rung for rung in order if rung not in taken]
    number = number or len(rungs)
    return Given(said, tuple(shown_now), number, len(rungs), another=bool(left), back=bool(left) and left[0] < number)


def _fitting(history: History, name: str) -> tuple[int, str]:
    """Return the rung that helps against the mistake of the last grading of this round, and its title; 0 for none."""
    gradings = history.attempts(name)
    started = history.started(name)
    if not gradings or gradings[-1].verdict != "failed" or (started and gradings[-1].at < started):
        return 0, ""
    mistakes = history.report(gradings[-1].id)["mistakes"]
    return (mistakes[0].get("hint", 0), mistakes[0]["title"]) if mistakes else (0, "")


def _planted_hint(app: App, target: Target, planted: dict[str, Any]) -> Given:
    """Take the next hint for what was planted: in a stage of a mock interview, else in the debug round."""
    from grader.cli import debugging  # noqa: PLC0415 - only debug rounds need the banks

    chosen = catalog.find(target.kata)
    hint = debugging.hint_for(app, target.name, planted) if planted else debugging.hint(app, chosen)
    if hint is None:
        return Given(_("These were all hints for what is still planted."), (), 0, 0, another=False)
    return Given("", ((hint.heading, hint.text),), 0, 0, another=hint.another)


def _then(target: Target, given: Given) -> str:
    """Return what to type next."""
    if target.debug and given.another:
        return _("`kata hint {kata} --debug` shows the next one.").format(kata=target.kata)
    if target.debug:
        return _("`kata solution {kata} --debug --give-up` shows what was planted.").format(kata=target.kata)
    if given.another and not given.count:
        return _("`kata hint {kata}` shows the next one.").format(kata=target.typed)
    if given.another:
        sentence = _("hint {number} of {count}; `kata hint {kata}` shows the next one.")
        if given.back:
            sentence = _("hint {number} of {count}; `kata hint {kata}` shows one before it that was left out.")
        return sentence.format(number=given.number, count=given.count, kata=target.typed)
    return _("`kata solution {kata} --give-up` shows the solution.").format(kata=target.typed)


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
    target = touched(app, kata, debug=debug)
    if target.debug:
        _show_planted(app, target, _comparable(app, target) if diff else None, give_up=give_up)
        return
    from grader.show.console import console, difference, heading, python, say  # noqa: PLC0415 - rich is for people

    _refuse_unpassed(app, target, give_up=give_up)
    answer = _comparable(app, target) if diff else ""
    reference = solution_of(app, target, give_up=give_up, lang="en" if diff else app.lang)
    screen = console()
    if diff:
        from grader.practice.compare import comparable  # noqa: PLC0415 - for this alone

        names = shown(app.workspace.path(target.name)), _("solution")
        difference(screen, *comparable(answer, reference), names)
        say(screen, _("Compared without comments, docstrings and annotations; your names as in the solution."))
        return
    if screen.is_terminal:  # in a pipe it is a file
        heading(screen, target.typed)
    python(screen, reference)


def solution_of(app: App, target: Target, *, give_up: bool, lang: str = "") -> str:
    """Return the model answer, and record that it was shown. Raises NotPassedYet, unless the learner gives up."""
    passed = _refuse_unpassed(app, target, give_up=give_up)
    app.ask(
        lambda history: history.reveal(target.name, gave_up=not passed),
        None,
        _("That the solution was shown could not be noted."),
    )
    return catalog.find(target.kata).reference(lang or app.lang)


def _refuse_unpassed(app: App, target: Target, *, give_up: bool) -> bool:
    """Tell whether it is passed. Raises NotPassedYet where it is not, unless the learner gives up."""
    passed = _is_passed(app, target)
    if not passed and not give_up:
        raise NotPassedYet(target.typed)
    return passed


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
