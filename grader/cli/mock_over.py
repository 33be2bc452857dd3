"""The end of a mock interview: what counts at zero, three questions, the diagnosis, the score card."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader import catalog
from grader.cli.attempt import record
from grader.cli.base import App
from grader.cli.guard import running_in
from grader.cli.mocking import graded_stage
from grader.errors import UsageError
from grader.language import _
from grader.practice.mock import ASKED, BEGUN, QUESTIONS, SUBMITTED, ZERO, Mock, Stage, score_card
from grader.practice.questions import Asked, questions
from grader.text import shown
from grader.workspace import digest, encoded

if TYPE_CHECKING:
    from rich.console import Console

    from grader.client.session import Session
    from grader.records import MockStep


Show = Callable[[Stage, dict[str, Any], str], None]


def present(app: App) -> Mock:
    """Return the mock interview as it is now. Raises UsageError where another terminal has ended it."""
    mock = running_in(app.history)
    if mock is None:
        raise UsageError(_("The mock interview is over: another terminal has ended it."))
    return mock


def settled(app: App, mock: Mock) -> Mock:
    """At zero, keep what the file held then: what is written later is overtime."""
    stage = mock.stage
    if stage is None or mock.left(datetime.now(UTC)).total_seconds() > 0 or mock.step(ZERO, mock.at):
        return mock
    source = _at_zero(app, mock, stage) if mock.is_begun else None
    text = (digest(encoded(source)), source) if source is not None else None
    app.history.mock_step(mock.number, ZERO, mock.at, text=text)
    return present(app)


def _at_zero(app: App, mock: Mock, stage: Stage) -> str | bytes | None:
    """Return what a file held when the time was over, as far as that is known."""
    changed = app.any_workspace.changed(stage.name)
    present = app.any_workspace.present(stage.name)
    if changed and present is not None and changed <= mock.deadline:
        return present
    kept = [one for one in app.any_workspace.kept(stage.name) if mock.began <= one.at <= mock.deadline]
    return kept[-1].path.read_bytes() if kept else None


@dataclass(frozen=True, slots=True)
class Concluded:
    """What a mock interview came to."""

    card: dict[str, Any]
    page: str
    """The score card as Markdown."""
    written: Path


def finish(app: App, mock: Mock, screen: "Console") -> None:
    """Ask, grade, show the whole diagnosis and the score card."""
    from grader.show.console import heading, markdown, say  # noqa: PLC0415 - rich is for people
    from grader.show.verdict import verdict  # noqa: PLC0415

    mock = settled(app, mock)
    heading(screen, _("The interview is over. Three questions, then the results."))
    _questions(app, mock)

    def show(stage: Stage, report: dict[str, Any], _source: str) -> None:
        verdict(screen, report, whole=True, then="", own=True, typed=catalog.typed(stage.name))
        screen.print()

    concluded = conclude(app, show)
    if concluded:
        markdown(screen, concluded.page)
        path = shown(concluded.written)
        say(screen, _("The score card is {path}, and as JSON beside it.").format(path=path))


def conclude(app: App, show: Show) -> Concluded | None:
    """Grade what was handed in, and write the score card; None where another terminal did that meanwhile.

    ``show`` is given each stage, its report, and the text that it is about.
    """
    mock = settled(app, present(app))
    ended = datetime.now(UTC)
    results = _graded(app, mock, show, ended)
    ratings = [(step.detail["card"], step.detail["rating"]) for step in mock.steps if step.kind == ASKED]
    card = score_card(mock, results, ratings, ended)
    before = [row.card for row in app.history.mocks() if row.card and row.number < mock.number]
    if not app.history.end_mock(mock.number, card):
        return None
    from grader.show.mock import card_page  # noqa: PLC0415 - rich is for people

    page = card_page(card, before)
    stem = app.workspace.folder / "mocks" / f"mock-{mock.number}-{mock.began.astimezone():%Y-%m-%d}"
    written = [
        app.workspace.write_page(stem.with_suffix(suffix), text)
        for suffix, text in ((".md", page), (".json", json.dumps(card, indent=2, ensure_ascii=False) + "\n"))
    ]
    return Concluded(card, page, written[0])


def questions_of(app: App, mock: Mock) -> list[Asked]:
    """Return the three questions about what was asked: the same ones whenever somebody looks."""
    known = [one for one in questions(app.lang) if one.kata in mock.katas()]
    return random.Random(mock.plan.seed).sample(known, min(QUESTIONS, len(known)))  # noqa: S311 - a draw, no secret


def _questions(app: App, mock: Mock) -> None:
    """Ask three questions about what was asked; each is stored with its rating at once."""
    from grader.cli.talk import ask  # noqa: PLC0415

    chosen = questions_of(app, mock)
    for number, one in enumerate(chosen):
        if mock.step(ASKED, number):
            continue
        rated = ask(app, [one], first=number + 1, total=len(chosen))
        if not rated:
            return
        app.history.mock_step(mock.number, ASKED, number, card=one.id, rating=rated[0][1])


def _graded(app: App, mock: Mock, show: Show, ended: datetime) -> list[dict[str, Any]]:
    """Grade each stage as it was in time, and what came in overtime; return a row for each."""
    from grader.client import session  # noqa: PLC0415 - after what needs none

    rows = []
    with session.open(stays=True) as grader:
        for number, stage in enumerate(mock.plan.stages):
            rows.append(_row(app, grader, mock, number, stage, show, ended))
    return rows


def _row(
    app: App, grader: "Session", mock: Mock, number: int, stage: Stage, show: Show, ended: datetime
) -> dict[str, Any]:
    """Grade what a stage held in time, and where that does not pass what came in overtime."""
    begun, handed_in = mock.step(BEGUN, number), mock.step(SUBMITTED, number)
    row: dict[str, Any] = {"kata": stage.kata, "debug": stage.debug, "planned": stage.minutes, "reached": bool(begun)}
    row |= {"in_time": False, "passed": False, "cases": None, "minutes": None, "mistakes": [], "families": []}
    if begun is None:
        return row
    until = handed_in.at if handed_in else ended
    row["minutes"] = round(max(0.0, (until - begun.at).total_seconds()) / 60, 1)
    texts = [(until <= mock.deadline, _text(app, stage, handed_in))]
    zero = mock.step(ZERO, number)
    if zero and zero.digest and not texts[0][0]:
        texts.insert(0, (True, _text(app, stage, zero)))
    found = None
    for in_time, source in texts:
        if source and (found is None or source != found[2]):
            found = in_time, graded_stage(app, grader, stage.kata, stage.name, source), source
            if found[1]["verdict"] == "passed":
                break
    if found is None:
        return row
    in_time, report, source = found
    return {**row, "in_time": in_time, **_told(app, stage, report, show, source)}


def _text(app: App, stage: Stage, step: "MockStep | None") -> str:
    """Return the text that a step has kept, or that the file has now."""
    if step is None:
        present = app.any_workspace.present(stage.name)
        return (present or b"").decode("utf-8", "replace")
    return encoded(app.history.source(step.digest or "")).decode("utf-8", "replace")


def _told(app: App, stage: Stage, report: dict[str, Any], show: Show, source: str) -> dict[str, Any]:
    """Show the whole diagnosis of a stage, record it, and return what the score card says of it."""
    show(stage, report, source)
    record(app, stage.name, source, report, whole=True)
    cases = [case for case in report["cases"] if case["outcome"] != "skipped"]
    failing = sorted({case["family"] for case in cases if case["outcome"] != "passed"})
    return {
        "passed": report["verdict"] == "passed",
        "cases": {"passed": sum(case["outcome"] == "passed" for case in cases), "total": len(cases)},
        "mistakes": [mistake["title"] for mistake in report["mistakes"]],
        "families": failing,
    }


def past(app: App, number: int | None, *, as_json: bool) -> None:
    """Show mock interviews that are over."""
    from grader.show.console import console, markdown, next_step, say  # noqa: PLC0415 - rich is for people
    from grader.show.mock import card_page  # noqa: PLC0415
    from grader.show.mock import past as listed  # noqa: PLC0415

    cards = [row.card for row in app.history.mocks() if row.card]
    if number is None:
        if as_json:
            click.echo(json.dumps({"schema": 1, "mocks": cards}, indent=2, ensure_ascii=False))
            return
        screen = console()
        if not cards:
            say(screen, _("No mock interview is over yet."))
            next_step(screen, _("`kata mock` begins one."))
        listed(screen, cards)
        return
    chosen: Sequence[dict[str, Any]] = [card for card in cards if card["mock"] == number]
    if not chosen:
        raise UsageError(
            _("There is no score card {number}.").format(number=number), _("`kata mock --list` shows them.")
        )
    if as_json:
        click.echo(json.dumps(chosen[0], indent=2, ensure_ascii=False))
        return
    markdown(console(), card_page(chosen[0], [card for card in cards if card["mock"] < number]))
