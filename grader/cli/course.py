"""The course: list, start, status."""

from typing import Any

import click

from grader import catalog
from grader.cli.base import App, KataCommand, examples, kata_names
from grader.history import History, Summary
from grader.language import _
from grader.text import shown

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
    then = catalog.following(_passed(done))
    chosen = {kata.id: kata for kata in found.values() if track in {None, kata.track}}
    if as_json:
        rows = [_listed(kata, done.get(kata.id, Summary()), app.lang) for kata in chosen.values()]
        _print_json({"current": current, "next": then.id if then else None, "katas": rows})
        return
    from grader.show.console import console  # noqa: PLC0415 - rich is for people
    from grader.show.course import course  # noqa: PLC0415

    course(console(), chosen, done, app.lang, current=current, then=then)


@click.command(
    "start",
    cls=KataCommand,
    short_help="Begin a kata: write its file, show the task.",
    epilog=examples("kata start mha", "kata start mha --edit"),
)
@click.argument("kata", shell_complete=kata_names)
@click.option("--edit", is_flag=True, help="Open the file in $VISUAL or $EDITOR.")
@click.pass_obj
def start_command(app: App, kata: str, edit: bool) -> None:
    """Begin KATA: write its file into the workspace, make it the current kata, show the task.

    A file that is there already is left as it is.
    """
    from grader.show.console import console, markdown, next_step, say  # noqa: PLC0415 - rich is for people

    chosen = catalog.find(kata)
    brief = chosen.brief(app.lang)
    path = app.workspace.path(chosen.id)
    written = app.workspace.start(chosen.id, chosen.stub())
    app.ask(
        lambda history: history.begin(chosen.id, anew=written),
        None,
        _("{kata} could not be made the current kata; name it in each command.").format(kata=chosen.id),
    )
    screen = console()
    markdown(screen, brief)
    screen.print()
    if missing := catalog.open_needs(chosen, _passed(app.done())):
        sentence = _("{kata} builds on {needs}, which you have not passed yet.")
        say(screen, sentence.format(kata=chosen.id, needs=", ".join(missing)))
    if written:
        say(screen, _("{path} is written.").format(path=shown(path)))
    else:
        sentence = _("{path} is already there and stays as it is; `kata reset {kata}` begins anew.")
        say(screen, sentence.format(path=shown(path), kata=chosen.id))
    next_step(screen, _("Write your answer in {path}, then `kata grade`.").format(path=shown(path)))
    if edit:
        click.edit(filename=str(path))


@click.command(
    "status",
    cls=KataCommand,
    short_help="Your attempts over time, best, hints.",
    epilog=examples("kata status", "kata status mha", "kata status --json"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def status_command(app: App, kata: str | None, as_json: bool) -> None:
    """Show your attempts at KATA over time; without KATA, everything you have begun."""
    if kata is None:
        _overview(app, as_json=as_json)
    else:
        _status_of(app, app.kata(kata), as_json=as_json)


def _overview(app: App, *, as_json: bool) -> None:
    done = app.history.summaries()
    current = app.history.current()
    if as_json:
        rows = [{"id": kata_id, **_summary(summary)} for kata_id, summary in sorted(done.items())]
        _print_json({"current": current, "katas": rows})
        return
    from grader.show.attempts import overview  # noqa: PLC0415 - rich is for people
    from grader.show.console import console  # noqa: PLC0415

    overview(console(), catalog.katas(), done, current=current)


def _status_of(app: App, kata: catalog.Kata, *, as_json: bool) -> None:
    from grader.versions import numbers, versions  # noqa: PLC0415 - not for the overview

    gradings = app.history.attempts(kata.id)
    summary = app.history.summary(kata.id)
    started = app.history.started(kata.id)
    number = numbers(versions(app.workspace, app.history, kata.id))
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
        _print_json({"kata": kata.id, "started": begun, **_summary(summary), "gradings": rows})
        return
    from grader.show.attempts import attempts  # noqa: PLC0415 - rich is for people
    from grader.show.console import console  # noqa: PLC0415

    attempts(console(), kata.id, gradings, summary=summary, started=started, numbers=number)


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


def _passed(done: dict[str, Summary]) -> set[str]:
    return {kata_id for kata_id, summary in done.items() if summary.passed}


def _print_json(document: dict[str, Any]) -> None:
    import json  # noqa: PLC0415 - not for people

    click.echo(json.dumps({"schema": SCHEMA, **document}, indent=2))
