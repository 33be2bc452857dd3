"""Mock interviews on the page: as `kata mock` has them, with the same clock, stages, questions and score card."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from grader import catalog
from grader.cli.base import App
from grader.cli.guard import running
from grader.cli.mock import agreed, submitted, write_stage
from grader.cli.mock_over import conclude, present, questions_of, settled
from grader.cli.mocking import told_of
from grader.cli.talk import last_rating, store_rating
from grader.errors import UsageError
from grader.formats.markup import together
from grader.language import _
from grader.practice.mock import ASKED, FEEDBACK, Mock
from grader.show.html import pieces
from grader.show.hypertext import html
from grader.show.mock import card_page
from grader.web.pages import Action, Visit
from grader.workspace import read_answer

Document = dict[str, Any]
MOST_MINUTES: Final = 24 * 60
MOST_STAGES: Final = 9


def state(visit: Visit) -> Document:
    """Return the mock interview that runs, and the score cards of those that are over."""
    app = visit.app
    mock = running(app)
    cards = [row.card for row in app.history.mocks() if row.card]
    past = [html(card_page(card, [])) for card in reversed(cards)][:10]
    return {"running": _running(app, settled(app, mock)) if mock else None, "past": past}


def begun(visit: Visit) -> Document:
    """Begin a mock interview."""
    app, asked = visit.app, visit.asked
    if running(app):
        raise UsageError(
            _("A mock interview runs already."), _("`kata mock` goes on with it, `kata mock --end` ends it.")
        )
    wanted = asked.katas("katas")[:MOST_STAGES]
    minutes = asked.number("minutes", 0, MOST_MINUTES, 0) or None
    mock = agreed(
        app, wanted, minutes=minutes, debug=asked.flag("debug"), told=asked.one_of("feedback", tuple(FEEDBACK))
    )
    write_stage(app, mock)
    visit.board.again()
    return {"running": _running(app, present(app))}


def handed_in(visit: Visit) -> Document:
    """Hand in the present stage; the next one begins."""
    app = visit.app
    mock, said = submitted(app, present(app))
    if mock.stage and not mock.is_begun:
        write_stage(app, mock)
        mock = present(app)
    return {"said": said, "running": _running(app, mock)}


def told(visit: Visit) -> Document:
    """Keep the file of the present stage, and tell of it what was agreed."""
    app = visit.app
    mock = settled(app, present(app))
    if mock.stage is None:
        raise UsageError(_("All stages are handed in."))
    found = told_of(app, mock, read_answer(app.any_workspace.path(mock.stage.name)))
    whole = "" if found.said else together(pieces(found.report, "", whole=True, level=2))
    return {"said": found.said, "html": whole}


def asked_about(visit: Visit) -> Document:
    """Return the questions that end a mock interview, as far as they were not answered yet."""
    app = visit.app
    mock = present(app)
    rows = [
        {
            "number": at,
            "id": one.id,
            "text": html(one.text),
            "answer": html(one.answer),
            "known": last_rating(app, one.id),
        }
        for at, one in enumerate(questions_of(app, mock))
        if not mock.step(ASKED, at)
    ]
    return {"questions": rows}


def answered(visit: Visit) -> Document:
    """Store how well an answer to one of them was known."""
    app, asked = visit.app, visit.asked
    mock = present(app)
    chosen = questions_of(app, mock)
    number = asked.number("number", 0, len(chosen) - 1)
    rating = asked.number("rating", 1, 4)
    if not mock.step(ASKED, number):
        store_rating(app, chosen[number].id, rating, asked.number("known", 0, 2**53))
        app.history.mock_step(mock.number, ASKED, number, card=chosen[number].id, rating=rating)
    return {}


def ended(visit: Visit) -> Document:
    """End it: what is there is graded, and the score card written."""
    diagnoses: list[str] = []
    found = conclude(
        visit.app,
        lambda _stage, report, source: diagnoses.append(together(pieces(report, source, whole=True, level=2))),
    )
    if found is None:
        raise UsageError(_("The mock interview is over: another terminal has ended it."))
    visit.board.again()
    return {"card": html(found.page), "diagnoses": diagnoses}


def _running(app: App, mock: Mock) -> Document:
    stage = mock.stage
    katas = catalog.katas()
    return {
        "number": min(mock.at + 1, len(mock.plan.stages)),
        "stages": [
            {"kata": one.kata, "title": katas[one.kata].title[app.lang], "minutes": one.minutes, "debug": one.debug}
            for one in mock.plan.stages
        ],
        "kata": stage.kata if stage else None,
        "left": mock.left(datetime.now(UTC)).total_seconds(),
        "feedback": mock.plan.feedback,
        "begun": mock.is_begun,
    }


ACTIONS: Final[dict[str, Action]] = {
    "mock": state,
    "mock-begin": begun,
    "mock-submit": handed_in,
    "mock-told": told,
    "mock-questions": asked_about,
    "mock-answer": answered,
    "mock-end": ended,
}
