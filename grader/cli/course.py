"""The course: list, start, status."""

from typing import TYPE_CHECKING, Any

import click

from grader import catalog
from grader.cli.base import App, KataCommand, Target, examples, kata_names
from grader.cli.guard import refuse
from grader.history import History, Summary
from grader.language import _
from grader.text import shown

if TYPE_CHECKING:
    from rich.console import Console

    from grader.practice.rounds import Worked

SCHEMA = 1


@click.command(
    "list",
    cls=KataCommand,
    short_help="The katas, what is passed, what comes next.",
    epilog=examples("kata list", "kata list --track 2", "kata list --json"),
)
@click.option("--track", type=click.IntRange(1, max(catalog.TRACKS)), help="Only the katas of one track.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def list_command(app: App, track: int | None, as_json: bool) -> None:
    """List the katas in the order of the course, with what is passed and what comes next."""
    found = catalog.katas()
    done = app.done(_("What you have passed cannot be shown."))
    current = app.ask(History.current, None, "") if done else None
    debugging = app.ask(History.debug_states, dict[str, str](), "") if done else {}
    then = catalog.following(_passed(done), after=catalog.kata_of(current or ""))
    chosen = {kata.id: kata for kata in found.values() if track in {None, kata.track}}
    if as_json:
        rows = [
            _listed(kata, done.get(kata.id, Summary()), app.lang)
            | {"debug": debugging.get(catalog.debug_round(kata.id))}
            for kata in chosen.values()
        ]
        _print_json({**_current(current), "next": then.id if then else None, "katas": rows})
        return
    from grader.show.console import console  # noqa: PLC0415 - rich is for people
    from grader.show.course import course  # noqa: PLC0415

    here = _current(current)["current"]
    course(console(), chosen, done, app.lang, current=here, then=then, debugging=debugging)


@click.command(
    "start",
    cls=KataCommand,
    short_help="Begin a kata: write its file, show the task.",
    epilog=examples("kata start mha", "kata start mha --edit", "kata start mha --debug --bugs 2"),
)
@click.argument("kata", shell_complete=kata_names)
@click.option("--edit", is_flag=True, help="Open the file in $VISUAL or $EDITOR.")
@click.option("--debug", is_flag=True, help="A debug round: the model answer with mistakes in it, for you to repair.")
@click.option("--bugs", type=click.IntRange(1), metavar="N", help="With --debug: how many; the kata says it otherwise.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="With --debug: plant the same mistakes again.")
@click.pass_obj
def start_command(app: App, *, kata: str, edit: bool, debug: bool, bugs: int | None, seed: int | None) -> None:
    """Begin KATA: write its file into the workspace, make it the current kata, show the task.

    A file that is there already is left as it is.
    """
    target = app.target(kata, debug=debug)
    chosen, debug = catalog.find(target.kata), target.debug
    if not debug and (bugs is not None or seed is not None):
        raise click.UsageError(_("--bugs and --seed go with --debug."))
    if debug:
        start_debugging(app, chosen, bugs, seed)
    else:
        from grader.show.console import console  # noqa: PLC0415 - rich is for people

        begin(app, chosen, console())
    if edit:
        click.edit(filename=str(app.workspace.path(Target(chosen.id, debug).name)))


def begun(app: App, chosen: catalog.Kata) -> bool:
    """Write the file of a kata and make it the current one; tell whether it was written, or there already."""
    written = app.workspace.start(chosen.id, app.beginning(chosen))
    app.ask(
        lambda history: history.begin(chosen.id, anew=written),
        None,
        _("{kata} could not be made the current kata; name it in each command.").format(kata=chosen.id),
    )
    app.remember_workspace()
    return written


def begin(app: App, chosen: catalog.Kata, screen: "Console") -> None:
    """Write the file of a kata, make it the current one, show the task. Raises MockRuns."""
    from grader.show.console import heading, markdown, next_step, say  # noqa: PLC0415 - rich is for people

    refuse(app, chosen.id)
    brief = chosen.brief(app.lang)
    path = app.workspace.path(chosen.id)
    written = begun(app, chosen)
    heading(screen, chosen.id)
    markdown(screen, brief)
    screen.print()
    if missing := catalog.open_needs(chosen, _passed(app.done())):
        sentence = _("{kata} builds on {needs}, which you have not passed yet.")
        say(screen, sentence.format(kata=chosen.id, needs=_(", ").join(missing)))
    if written:
        say(screen, _("{path} is written.").format(path=shown(path)))
    else:
        sentence = _("{path} is already there and stays as it is; `kata reset {kata}` begins anew.")
        say(screen, sentence.format(path=shown(path), kata=chosen.id))
    say(screen, _("`kata show` shows the task again."))
    next_step(screen, _("Write your answer in {path}, then `kata grade`.").format(path=shown(path)))


def start_debugging(
    app: App, chosen: catalog.Kata, bugs: int | None, seed: int | None, *, counts: bool = False
) -> None:
    """Write the file of a debug round, make it the current one, show the task; it may count as a review."""
    from grader.cli import debugging  # noqa: PLC0415 - only debug rounds need the banks
    from grader.show.console import console, heading, markdown, next_step, say  # noqa: PLC0415 - rich is for people

    brief = chosen.brief(app.lang)
    said = debugging.begin(app, chosen, bugs, seed, counts=counts)
    app.remember_workspace()
    screen = console()
    heading(screen, catalog.typed(catalog.debug_round(chosen.id)))
    markdown(screen, brief)
    screen.print()
    for sentence in said:
        say(screen, sentence)
    say(screen, _("`kata show` shows the task again."))
    path = shown(app.workspace.path(catalog.debug_round(chosen.id)))
    next_step(screen, _("Find what is wrong in {path} and repair it, then `kata grade`.").format(path=path))


@click.command(
    "status",
    cls=KataCommand,
    short_help="Your attempts over time, best, hints.",
    epilog=examples("kata status", "kata status mha", "kata status mha --debug", "kata status --json"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--debug", is_flag=True, help="The debug rounds of the kata instead.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def status_command(app: App, kata: str | None, debug: bool, as_json: bool) -> None:
    """Show your attempts at KATA over time; without KATA, everything you have begun."""
    if kata is None and not debug:
        _overview(app, as_json=as_json)
    else:
        _status_of(app, app.target(kata, debug=debug), as_json=as_json)


def _overview(app: App, *, as_json: bool) -> None:
    done = app.history.summaries()
    current = app.history.current()
    debugging = app.history.debug_states()
    worked = _worked(app)
    if as_json:
        rows = [
            {"id": name, **_summary(done[name]), **worked[name].document()}
            for name in sorted(done)
            if not catalog.kind_of(name)
        ]
        rounds = [
            {"id": catalog.kata_of(name), "state": state, **_summary(done.get(name, Summary()))}
            for name, state in sorted(debugging.items())
        ]
        _print_json({**_current(current), "katas": rows, "debug_rounds": rounds})
        return
    from grader.show.attempts import overview  # noqa: PLC0415 - rich is for people
    from grader.show.console import console  # noqa: PLC0415

    overview(console(), catalog.katas(), done, current=current, debugging=debugging, worked=worked, lang=app.lang)


def _worked(app: App) -> "Worked":
    """Return minutes and rounds by name."""
    from grader.practice.rounds import work  # noqa: PLC0415 - for this page alone

    return work(app.history)


def _status_of(app: App, target: Target, *, as_json: bool) -> None:
    from grader.versions import numbers, versions  # noqa: PLC0415 - not for the overview

    gradings = app.history.attempts(target.name)
    summary = app.history.summary(target.name)
    started = app.history.started(target.name)
    debugging = app.history.debug_round(catalog.debug_round(target.kata))
    number = numbers(versions(app.workspace, app.history, target.name))
    if as_json:
        rows = [
            {
                "at": attempt.at.isoformat(),
                "verdict": attempt.verdict,
                "passed": attempt.passed,
                "total": attempt.total,
                "whole": attempt.whole,
                "seconds": attempt.seconds,
                "version": number.get(attempt.digest),
            }
            for attempt in gradings
        ]
        begun = started.isoformat() if started else None
        opened = None
        if debugging:
            opened = {"state": debugging.state, "seed": debugging.seed, "bugs": debugging.bugs}
        facts = {"kata": target.kata, "debugging": target.debug, "debug": opened, "started": begun}
        _print_json({**facts, **_summary(summary), "gradings": rows})
        return
    from grader.show.attempts import attempts  # noqa: PLC0415 - rich is for people
    from grader.show.console import console  # noqa: PLC0415

    attempts(
        console(),
        target.typed,
        gradings,
        summary=summary,
        started=started,
        numbers=number,
        state=debugging.state if debugging else "",
    )


def _listed(kata: catalog.Kata, summary: Summary, lang: str) -> dict[str, Any]:
    return {
        "id": kata.id,
        "title": kata.title[lang],
        "track": kata.track,
        "order": kata.order,
        "difficulty": kata.difficulty,
        "minutes": kata.minutes,
        "needs": list(kata.needs),
        "tags": list(kata.tags),
        **_summary(summary),
    }


def _summary(summary: Summary) -> dict[str, Any]:
    passed, total = summary.best
    return {
        "passed": summary.passed,
        "attempts": summary.attempts,
        "best": {"passed": passed, "total": total} if total else None,
        "last": summary.last.isoformat() if summary.last else None,
        "hints": summary.hints,
        "gave_up": summary.gave_up,
    }


def _current(name: str | None) -> dict[str, Any]:
    return {"current": catalog.kata_of(name or "") or None, "debugging": catalog.is_debug_round(name or "")}


def _passed(done: dict[str, Summary]) -> set[str]:
    return {kata_id for kata_id, summary in done.items() if summary.passed}


def _print_json(document: dict[str, Any]) -> None:
    import json  # noqa: PLC0415 - not for people

    click.echo(json.dumps({"schema": SCHEMA, **document}, indent=2))
