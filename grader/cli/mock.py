"""A timed round as it is asked: mock."""

import select
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import click

from grader import catalog
from grader.cli.base import INTERRUPTED, App, KataCommand, examples, kata_names
from grader.cli.guard import goes_on, minutes_left, running
from grader.cli.mock_over import finish, past, present, settled
from grader.cli.mocking import feedback
from grader.cli.practice import standing
from grader.errors import UsageError
from grader.language import _, marked
from grader.practice.mock import BEGUN, FEEDBACK, STAGES, SUBMITTED, Mock, drawn
from grader.text import shown
from grader.workspace import digest, encoded

if TYPE_CHECKING:
    from rich.console import Console


FIRST_SEEDS: Final = 10**6
CLOCK: Final = marked("The clock goes on; `kata mock` takes up where it was.")


@click.command(
    "mock",
    cls=KataCommand,
    short_help="A mock interview: stages, a clock, a score card.",
    epilog=examples(
        "kata mock", "kata mock gqa --minutes 60", "kata mock mha --debug", "kata mock --submit", "kata mock --list"
    ),
)
@click.argument("katas", nargs=-1, metavar="[KATA]...", shell_complete=kata_names)
@click.option("--minutes", type=click.IntRange(1, 24 * 60), metavar="N", help="How long it lasts.")
@click.option("--stages", type=click.IntRange(1, 9), default=STAGES, show_default=True, help="At most so many stages.")
@click.option("--debug", is_flag=True, help="Begin with a debug round; what builds on it comes after it.")
@click.option(
    "--feedback",
    "told",
    type=click.Choice(FEEDBACK),
    help="What `kata grade` tells meanwhile: nothing, how many cases pass, or all but hints.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Draw the same tasks again.")
@click.option("--submit", is_flag=True, help="Hand in the present stage; the next one begins.")
@click.option("--end", is_flag=True, help="End it now: what is there is graded.")
@click.option("--list", "as_list", is_flag=True, help="List the mock interviews that are over.")
@click.option("--card", type=click.IntRange(1), metavar="N", help="Show the score card of one again.")
@click.option("--json", "as_json", is_flag=True, help="With --list or --card: print one JSON document.")
@click.pass_context
def mock_command(
    context: click.Context,
    *,
    katas: tuple[str, ...],
    minutes: int | None,
    stages: int,
    debug: bool,
    told: str | None,
    seed: int | None,
    submit: bool,
    end: bool,
    as_list: bool,
    card: int | None,
    as_json: bool,
) -> None:
    """Begin a mock interview, or go on with the one that runs: tasks that build on each other up to KATA, and a clock.

    Several KATAs are the tasks, in this order. Meanwhile nobody helps: no cases, no names, no hints. At zero the file
    counts as it is; what comes later is overtime. In the end come three questions, the whole diagnosis and a score
    card. The clock goes on when the terminal is closed; `kata mock` takes up where it was.
    """
    app: App = context.obj
    if sum((submit, end, as_list, card is not None)) > 1:
        raise click.UsageError(_("--submit, --end, --list and --card exclude each other."))
    if as_json and not (as_list or card):
        raise click.UsageError(_("--json goes with --list or --card."))
    if as_list or card:
        past(app, card, as_json=as_json)
        return
    mock = running(app)
    asked = bool(katas or minutes or debug or told or seed is not None)
    if mock is None:
        if submit or end:
            raise UsageError(_("No mock interview runs."), _("`kata mock` begins one."))
        wanted = [catalog.find(app.kata_id(name)).id for name in katas]
        mock = agreed(app, wanted, minutes=minutes, debug=debug, stages=stages, told=told, seed=seed)
    elif asked:
        raise UsageError(
            _("A mock interview runs already."), _("`kata mock` goes on with it, `kata mock --end` ends it.")
        )
    try:
        _go_on(app, mock, submit=submit, end=end)
    except KeyboardInterrupt:
        click.echo()
        left = running(app)
        click.echo(goes_on(left) if left and not left.stage else _(CLOCK), err=True)
        context.exit(INTERRUPTED)


def agreed(
    app: App,
    wanted: Sequence[str],
    *,
    minutes: int | None = None,
    debug: bool = False,
    stages: int = STAGES,
    told: str | None = None,
    seed: int | None = None,
) -> Mock:
    """Begin a mock interview on these katas, or on what is drawn. Raises UsageError for a kata twice."""
    if twice := next((name for name in wanted if wanted.count(name) > 1), None):
        raise UsageError(_("{kata} is asked twice.").format(kata=twice))
    seed = datetime.now(UTC).microsecond % FIRST_SEEDS if seed is None else seed
    passed = standing(app).passed
    plan = drawn(wanted, passed, minutes=minutes, debug=debug, stages=stages, feedback=told or "none", seed=seed)
    app.history.begin_mock(plan.document())
    return present(app)


def _go_on(app: App, mock: Mock, *, submit: bool, end: bool) -> None:
    from grader.show.console import console  # noqa: PLC0415 - rich is for people

    screen = console()
    mock = settled(app, mock)
    if submit:
        mock = _submitted(app, mock, screen)
    live = sys.stdin.isatty() and sys.stdout.isatty()
    while not end and (stage := mock.stage) is not None:
        if not mock.is_begun:
            write_stage(app, mock)
            mock = present(app)
        elif app.history.current() != stage.name:
            app.history.make_current(stage.name)
        _show(app, mock, screen, live=live)
        if not live:
            return
        done = _watch(app, mock, screen)
        if done == "q":
            click.echo(_(CLOCK))
            return
        mock = _submitted(app, mock, screen)
    finish(app, mock, screen)


def _submitted(app: App, mock: Mock, screen: "Console") -> Mock:
    """Hand in the present stage, and say so."""
    from grader.show.console import say  # noqa: PLC0415 - rich is for people

    mock, said = submitted(app, mock)
    if said:
        say(screen, said)
    return mock


def submitted(app: App, mock: Mock) -> tuple[Mock, str]:
    """Hand in the present stage; return the interview as it is then, and what to say where this handed it in."""
    stage = mock.stage
    if stage is None or not mock.is_begun:
        return mock, ""
    mock = settled(app, mock)
    source = app.answer(stage.name)
    first = app.history.mock_step(mock.number, SUBMITTED, mock.at, text=(digest(encoded(source)), source))
    sentence = _("{kata} is handed in, {clock}.").format(kata=stage.kata, clock=minutes_left(mock))
    return present(app), sentence if first else ""


def write_stage(app: App, mock: Mock) -> None:
    """Write the file of the present stage."""
    stage = mock.stage
    assert stage is not None
    kata = catalog.find(stage.kata)
    planted: dict[str, Any] = {}
    source = app.beginning(kata)
    if stage.debug:
        from grader.debug.plant import plant  # noqa: PLC0415 - only debug rounds need the banks

        found = plant(kata, kata.bugs, mock.plan.seed, app.lang)
        source, planted = found.source, found.document()
    app.history.begin(stage.name, anew=True, counts=not stage.debug)
    app.workspace.plant(stage.name, source)
    app.remember_workspace()
    app.history.mock_step(mock.number, BEGUN, mock.at, planted=planted)


def _show(app: App, mock: Mock, screen: "Console", *, live: bool) -> None:
    """Show the task of the present stage, and what can be done."""
    from grader.show.console import heading, markdown, next_step, say  # noqa: PLC0415 - rich is for people

    stage = mock.stage
    assert stage is not None
    heading(screen, head(mock))
    markdown(screen, catalog.find(stage.kata).brief(app.lang))
    screen.print()
    path = shown(app.workspace.path(stage.name))
    if stage.debug:
        say(screen, _("Find what is wrong in {path} and repair it.").format(path=path))
    else:
        say(screen, _("Write your answer in {path}.").format(path=path))
    if not live:
        next_step(
            screen, _("`kata mock --submit` hands it in, `kata mock` shows the clock, `kata mock --end` ends it.")
        )


def head(mock: Mock) -> str:
    """Return where a mock interview is."""
    stage = mock.stage
    assert stage is not None
    sentence = _("mock interview · stage {number} of {count}: {kata} · {clock}")
    return sentence.format(number=mock.at + 1, count=len(mock.plan.stages), kata=stage.kata, clock=minutes_left(mock))


def _watch(app: App, mock: Mock, screen: "Console") -> str:
    """Keep the clock in view until a key is pressed; return it: s for handing in, q for leaving."""
    from grader.watch.keyboard import Keyboard  # noqa: PLC0415 - only on a terminal

    keys = [("s", _("hand in"))]
    if mock.plan.feedback != "none":
        keys.append(("g", _("grade")))
    keys += [("t", _("task")), ("q", _("leave, the clock goes on"))]
    said = " · ".join(f"{key} {word}" for key, word in keys)
    told = mock.left(datetime.now(UTC)).total_seconds() <= 0
    while True:
        with Keyboard(wanted=True) as keyboard:
            pressed = ""
            while not pressed:
                mock = settled(app, mock)
                over = mock.left(datetime.now(UTC)).total_seconds() <= 0
                if over and not told:
                    told = True
                    sys.stdout.write(
                        "\r\x1b[K\a" + _("Time is over: the file counts as it is. What follows is overtime.") + "\n"
                    )
                line = f"{minutes_left(mock)} · {said}"
                sys.stdout.write(f"\r\x1b[K{_cut(line, screen.width - 1)}")
                sys.stdout.flush()
                if select.select([keyboard], [], [], 1.0)[0]:
                    pressed = keyboard.pressed()
                    if not keyboard.listening:
                        pressed = "q"
        sys.stdout.write("\r\x1b[K")
        sys.stdout.flush()
        if "s" in pressed or "q" in pressed:
            return "s" if "s" in pressed else "q"
        if "g" in pressed and mock.plan.feedback != "none":
            feedback(app, mock, screen)
        elif "t" in pressed:
            _show(app, mock, screen, live=True)


def _cut(line: str, width: int) -> str:
    from rich.text import Text  # noqa: PLC0415 - rich is for people

    text = Text(line)
    text.truncate(width, overflow="ellipsis")
    return text.plain
