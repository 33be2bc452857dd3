"""What to do next: kata alone, today, plan."""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import click

from grader import catalog
from grader.cli.base import App, KataCommand, examples
from grader.cli.guard import goes_on, running
from grader.errors import UsageError
from grader.history import History
from grader.language import _
from grader.practice.questions import Asked, questions
from grader.practice.rounds import Round, rounds
from grader.practice.schedule import Card, cards
from grader.practice.standing import Standing

SCHEMA = 1
MOST_PLANNED = 366


def standing(app: App) -> Standing:
    """Return where the learner stands; nothing, with a warning, where the history cannot be used."""
    now = datetime.now(UTC)
    done = app.done(_("What you have done cannot be shown."))
    found = app.ask(lambda history: rounds(history, now), list[Round](), "")

    def replayed(history: History) -> dict[str, Card]:
        return cards(history, found, now)

    some = any(one.over for one in found) or app.ask(lambda history: bool(history.ratings()), False, "")
    known = app.ask(replayed, dict[str, Card](), "") if some else {}
    name = app.ask(History.current, None, "")
    there = name and catalog.exists(catalog.kata_of(name))
    return Standing(now, done, found, known, name if there else None)


@click.command("home", cls=KataCommand, hidden=True)
@click.pass_obj
def home_command(app: App) -> None:
    """Show where you stand, and what to type next."""
    from grader.practice import plan  # noqa: PLC0415 - few commands plan
    from grader.show.console import console  # noqa: PLC0415 - rich is for people
    from grader.show.practice import home  # noqa: PLC0415

    found = standing(app)
    asked = _questions(app)
    goal = app.ask(plan.goal, None, "")
    days = plan.laid_out(found.passed, found.today, goal.until) if goal else []
    mock = running(app)
    in_mock = goes_on(mock) if mock else ""
    home(console(), found, found.agenda(asked), app.lang, goal=goal, days=days, in_mock=in_mock)


@click.command(
    "today",
    cls=KataCommand,
    short_help="What to do today: reviews, a new kata, questions.",
    epilog=examples("kata today", "kata today --minutes 30", "kata today --json"),
)
@click.option("--minutes", type=click.IntRange(1), metavar="N", help="Only as much as fits into so many minutes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def today_command(app: App, minutes: int | None, as_json: bool) -> None:
    """Show what to do today: what is due for review, one new kata, a few questions."""
    found = standing(app)
    asked = _questions(app)
    agenda = found.agenda(asked, minutes)
    if as_json:
        reviews = [
            {"kata": card.id, "due": card.day.isoformat(), "minutes": catalog.katas()[card.id].minutes}
            for card in agenda.reviews
        ]
        facts = {"date": found.today.isoformat(), "minutes": agenda.minutes, "days_in_a_row": found.days_in_a_row()}
        _print_json(
            {
                **facts,
                "reviews": reviews,
                "waiting": agenda.waiting,
                "new": agenda.new.id if agenda.new else None,
                "questions": list(agenda.questions),
            }
        )
        return
    from grader.show.console import console  # noqa: PLC0415 - rich is for people
    from grader.show.practice import today  # noqa: PLC0415

    mock = running(app)
    texts = {one.id: one.text for one in asked}
    chosen = [texts[one] for one in agenda.questions]
    today(console(), found, agenda, app.lang, questions=chosen, in_mock=goes_on(mock) if mock else "")


@click.command(
    "plan",
    cls=KataCommand,
    short_help="The days until your interview.",
    epilog=examples("kata plan --days 7", "kata plan --until 2026-12-24", "kata plan", "kata plan --off"),
)
@click.option("--days", type=click.IntRange(1, MOST_PLANNED), metavar="N", help="Plan so many days, today among them.")
@click.option("--until", metavar="DATE", help="Plan until this day: 2026-12-24.")
@click.option("--off", is_flag=True, help="Plan nothing any more.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def plan_command(app: App, *, days: int | None, until: str | None, off: bool, as_json: bool) -> None:
    """Deal what you have not passed out over the days until your interview; without options, show how that stands.

    The plan follows what really happened: what was left today is dealt out over the other days.
    """
    if sum((days is not None, until is not None, off)) > 1:
        raise click.UsageError(_("--days, --until and --off exclude each other."))
    from grader.practice import plan  # noqa: PLC0415 - few commands plan

    found = standing(app)
    if off:
        plan.forget(app.history)
        click.echo(_("Nothing is planned any more."))
        return
    goal = plan.goal(app.history)
    if days is not None or until is not None:
        end = found.today + timedelta(days=(days or 1) - 1) if until is None else _date(until, found.today)
        goal = plan.plan(app.history, found.today, end)
    if goal is None:
        raise UsageError(_("Nothing is planned yet."), _("`kata plan --days 7` deals the course out over a week."))
    dealt = plan.laid_out(found.passed, found.today, goal.until)
    if as_json:
        listed = [
            {"date": day.day.isoformat(), "minutes": day.minutes, "katas": [kata.id for kata in day.katas]}
            for day in dealt
        ]
        _print_json({"since": goal.since.isoformat(), "until": goal.until.isoformat(), "days": listed})
        return
    from grader.show.console import console  # noqa: PLC0415 - rich is for people
    from grader.show.practice import planned  # noqa: PLC0415

    planned(console(), found, goal, dealt)


def _date(text: str, today: date) -> date:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(_("'{text}' is no date such as 2026-12-24.").format(text=text[:40])) from None
    if found < today:
        raise click.BadParameter(_("{date} is past.").format(date=found))
    if found >= today + timedelta(days=MOST_PLANNED):
        raise click.BadParameter(_("{date} is not within a year from today.").format(date=found))
    return found


def _questions(app: App) -> list[Asked]:
    return questions(app.lang)


def _print_json(document: dict[str, Any]) -> None:
    click.echo(json.dumps({"schema": SCHEMA, **document}, indent=2, ensure_ascii=False))
