"""What the page shows and does, but for mock interviews: a function for each request, on the desk's thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Final

from grader import catalog
from grader.catalog import TRACKS, Kata
from grader.cli import course, review
from grader.cli.base import App, Target
from grader.cli.drawing import can_draw, drawn_by
from grader.cli.files import beginnings
from grader.cli.guard import refuse, running
from grader.cli.hints import solution_of, take_hint
from grader.cli.practice import standing
from grader.cli.talk import AT_ONCE, last_rating, store_rating
from grader.errors import UsageError
from grader.formats.svg import svg
from grader.history import History, Summary
from grader.language import _
from grader.practice.agenda import due
from grader.practice.questions import in_turn, questions
from grader.practice.rounds import rounds
from grader.show.hypertext import html
from grader.show.practice import round_facts, since
from grader.show.times import ago, moment
from grader.text import clean, shown
from grader.versions import Version, chosen, versions
from grader.web.asked import Asked
from grader.web.board import Board
from grader.web.words import PHRASES, WORDS
from grader.workspace import encoded

Document = dict[str, Any]
MOST_VERSIONS: Final = 100


@dataclass(frozen=True, slots=True)
class Visit:
    """One request, and what it is answered with."""

    app: App
    board: Board
    asked: Asked


Action = Callable[[Visit], Document]


def ready(app: App) -> None:
    """Make what every page needs at first, while a browser is busy with the scripts."""
    import_module("grader.web.answers")
    catalog.katas()
    standing(app)
    html("")


def first(visit: Visit) -> Document:
    """Return all that a page shows at first: its words, the course, and what is open.

    That is the kata that is named, else the current one, or none where the page is ``elsewhere``.
    """
    asked, course = visit.asked, listed(visit)
    found: Document = {"words": words(), "course": course, "opened": None}
    if asked.flag("elsewhere"):
        return found
    if asked.text("kata"):
        return found | {"opened": opened(visit)}
    if course["mock"] is None and course["current"]:
        current = course["current"]
        found["opened"] = _opened(visit.app, visit.board, catalog.find(current), Target.of(current))
    return found


def words() -> Document:
    """Return what stands on buttons and beside fields."""
    spoken: Document = {key: _(sentence) for key, sentence in WORDS.items()}
    return spoken | {"phrases": {key: _(sentence) for key, sentence in PHRASES.items()}}


def listed(visit: Visit) -> Document:
    """Return the course, what is due, what is next."""
    app = visit.app
    found = standing(app)
    current = catalog.kata_of(found.current or "")
    then = catalog.following(found.passed, after=current)
    tracks = []
    for track, title in TRACKS.items():
        members = [_row(app, kata, found.done) for kata in catalog.katas().values() if kata.track == track]
        if members:
            tracks.append({"title": f"{track} · {title[app.lang]}", "katas": members})
    mock = running(app)
    asked = in_turn(questions(app.lang), found.cards, found.passed, found.now)
    return {
        "tracks": tracks,
        "passed": len(found.passed),
        "total": len(catalog.katas()),
        "current": current or (then.id if then else None),
        "next": then.id if then else None,
        "due": [{"id": one.id, "when": since(found.today, one.day)} for one in due(found.cards, found.now)],
        "questions": len(asked),
        "mock": mock.left(found.now).total_seconds() if mock else None,
        "workspace": shown(app.any_workspace.folder),
    }


def _row(app: App, kata: Kata, done: dict[str, Summary]) -> Document:
    summary = done.get(kata.id, Summary())
    state = "passed" if summary.passed else "begun" if kata.id in done else ""
    return {"id": kata.id, "title": kata.title[app.lang], "minutes": kata.minutes, "state": state}


def opened(visit: Visit) -> Document:
    """Return a kata: its task, its file, and what is known of it."""
    return _opened(visit.app, visit.board, visit.asked.kata(), visit.asked.target())


def _opened(app: App, board: Board, kata: Kata, target: Target) -> Document:
    answer = board.open(app, target)
    passed = {name for name, summary in app.done().items() if summary.passed}
    now = datetime.now(UTC)

    def own(history: History) -> str:
        found = [one for one in rounds(history, now) if one.name == target.name]
        return round_facts(found[-1], number=len(found)) if found else ""

    return {
        "kata": kata.id,
        "kind": target.kind or ("debug" if target.debug else ""),
        "name": target.typed,
        "title": kata.title[app.lang],
        "minutes": kata.minutes,
        "path": shown(app.any_workspace.path(target.name)),
        "brief": html(kata.brief(app.lang)),
        "missing": catalog.open_needs(kata, passed),
        "passed": kata.id in passed,
        "draws": not target.kind and not target.debug and can_draw(kata),
        "round": app.ask(own, "", ""),
        "state": answer.speak(app.lang),
    }


def rules(visit: Visit) -> Document:
    """Return what holds in every kata."""
    return {"html": html(catalog.rules(visit.app.lang))}


def started(visit: Visit) -> Document:
    """Begin an answer, a debug round or a review: write its file."""
    app, target, kata = visit.app, visit.asked.target(), visit.asked.kata()
    said: list[str] = []
    if target.debug:
        from grader.cli import debugging  # noqa: PLC0415 - only debug rounds need the banks

        said = debugging.begin(app, kata, None, None)
        app.remember_workspace()
    elif target.kind == "review":
        found = standing(app)
        anew = review.open_review(found, kata) is None
        if anew:
            review.refuse_unpassed(found, kata)
        review.begun(app, kata, anew=anew)
    elif target.kind:
        raise UsageError(_("A mock interview begins by itself."))
    else:
        course.begun(app, kata)
    visit.board.open(app, target).begun()
    return {"said": said}


def saved(visit: Visit) -> Document:
    """Save what was typed, and grade it where that is wanted or it is new."""
    answer = visit.board.open(visit.app, visit.asked.target())
    answer.save(visit.asked.text("text"), visit.asked.text("seen"), grade=visit.asked.flag("grade"))
    return {"digest": answer.digest}


def hint(visit: Visit) -> Document:
    """Take the next hint."""
    given = take_hint(visit.app, visit.asked.target())
    text = "\n\n".join(f"## {heading}\n\n{text}" for heading, text in given.rungs)
    count = _("hint {number} of {count}").format(number=given.number, count=given.count) if given.count else ""
    return {"said": given.said, "html": html(text), "count": count, "another": given.another}


def solution(visit: Visit) -> Document:
    """Show the model answer, once the kata is passed, or what was planted; or to somebody who gives up."""
    app, target = visit.app, visit.asked.target()
    refuse(app, target.kata)
    if target.debug:
        from grader.cli.debugging import revealed  # noqa: PLC0415 - only debug rounds need the banks

        planted = revealed(app, visit.asked.kata(), give_up=visit.asked.flag("give_up"))
        found = [one.in_language(app.lang) for one in planted.plants]
        text = "\n\n".join(f"## {one['title']}\n\n{one['explain']}" for one in found)
        return {"html": html(text), "code": planted.sound}
    return {"html": "", "code": solution_of(app, target, give_up=visit.asked.flag("give_up"))}


def picture(visit: Visit) -> Document:
    """Draw what the answer computes of a small example, and the model answer once the kata is passed."""
    drawn = drawn_by(visit.app, visit.asked.target())
    title = visit.asked.kata().title[visit.app.lang]
    parts = [(_("yours"), drawn["yours"]), (_("model answer"), drawn["model"])]
    found = [{"title": name, "svg": svg(maps, f"{title}: {name}", styled=False)} for name, maps in parts if maps]
    said = _("Your answer draws nothing: {failure}").format(failure=drawn["failure"]) if drawn["failure"] else ""
    return {"said": said, "pictures": found}


def talk(visit: Visit) -> Document:
    """Return questions of an interviewer, what is due first."""
    app = visit.app
    chosen = visit.asked.kata().id if visit.asked.text("kata") else None
    if chosen:
        refuse(app, chosen)
    known = questions(app.lang, chosen)
    found = standing(app)
    turn = in_turn(known, found.cards, set(catalog.katas()) if chosen else found.passed, found.now)
    if chosen and not turn:
        turn = known  # asked for by name: before they are due, too
    rows = [
        {"id": one.id, "text": html(one.text), "answer": html(one.answer), "known": last_rating(app, one.id)}
        for one in turn[:AT_ONCE]
    ]
    return {"questions": rows}


def rated_question(visit: Visit) -> Document:
    """Store how well an answer was known."""
    app, card = visit.app, visit.asked.text("card")
    if card not in {one.id for one in questions(app.lang)}:
        raise UsageError(_("There is no such question."))
    rating = visit.asked.number("rating", 1, 4)
    stored = store_rating(app, card, rating, visit.asked.number("known", 0, 2**53))
    if stored is False:
        return {"said": _("Another terminal has rated this question meanwhile; that rating counts.")}
    found = standing(app)
    return {"said": since(found.today, found.cards[card].day) if card in found.cards else ""}


def rated(visit: Visit) -> Document:
    """Correct the rating of the round that was over last."""
    return {"said": review.rate_last(visit.app, visit.asked.kata(), visit.asked.number("rating", 1, 4))}


def history(visit: Visit) -> Document:
    """Return the versions of a file, the newest first."""
    app, target = visit.app, visit.asked.target()
    present = app.workspace.present(target.name)
    found = _versions(visit)
    rows = []
    for version in reversed(found[-MOST_VERSIONS:]):
        attempt = version.attempt
        rows.append(
            {
                "number": version.number,
                "when": moment(version.at),
                "ago": ago(version.at),
                "verdict": attempt.verdict if attempt else "",
                "cases": f"{attempt.passed}/{attempt.total}" if attempt and attempt.total else "",
                "present": present is not None and encoded(version.read()) == present,
            }
        )
    return {"versions": rows}


def version(visit: Visit) -> Document:
    """Return the text of a version."""
    text = _chosen(visit).read()
    return {"text": clean(text, 1 << 20) if isinstance(text, bytes) else text}


def restored(visit: Visit) -> Document:
    """Bring a version back; what the file holds is kept."""
    app, target = visit.app, visit.asked.target()
    found = _chosen(visit)
    app.workspace.restore(target.name, found.read(), *beginnings(app, target))
    app.remember_workspace()
    app.touch(target, named=True)
    visit.board.open(app, target).begun()
    return {}


def _versions(visit: Visit) -> list[Version]:
    app = visit.app
    return versions(app.workspace, app.usable_history(""), visit.asked.target().name)


def _chosen(visit: Visit) -> Version:
    number = visit.asked.number("number", 1, 10**6)
    return chosen(_versions(visit), visit.app.workspace, visit.asked.target().name, number)


ACTIONS: Final[dict[str, Action]] = {
    "first": first,
    "course": listed,
    "open": opened,
    "rules": rules,
    "start": started,
    "save": saved,
    "hint": hint,
    "solution": solution,
    "picture": picture,
    "talk": talk,
    "rate-question": rated_question,
    "rate": rated,
    "history": history,
    "version": version,
    "restore": restored,
}
