"""What was passed is written again before it is forgotten: review."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from grader import catalog
from grader.catalog import Kata
from grader.cli.base import App, KataCommand, examples, kata_names
from grader.cli.guard import refuse
from grader.cli.help import one_of
from grader.cli.practice import SCHEMA, standing
from grader.errors import UsageError
from grader.language import _, marked
from grader.practice.rounds import Round, rounds
from grader.practice.standing import Standing
from grader.records import AGAIN, EASY, GOOD, HARD
from grader.text import shown

if TYPE_CHECKING:
    from grader.practice.schedule import Card

RATINGS: Final = {"again": AGAIN, "hard": HARD, "good": GOOD, "easy": EASY}
WORDS: Final = {AGAIN: marked("again"), HARD: marked("hard"), GOOD: marked("good"), EASY: marked("easy")}


def one_rating(_context: click.Context, _parameter: click.Parameter, word: str | None) -> int | None:
    """Return a rating that was typed, as a word or as 1 to 4."""
    if word is None:
        return None
    if word in RATINGS:
        return RATINGS[word]
    if word in {"1", "2", "3", "4"}:
        return int(word)
    sentence = _("A rating is again, hard, good or easy, or 1 to 4.")
    raise click.BadParameter(sentence)


@click.command(
    "review",
    cls=KataCommand,
    short_help="Write again what is due, before it is forgotten.",
    epilog=examples("kata review", "kata review mha", "kata review --list", "kata review --rate hard"),
)
@click.argument("kata", required=False, shell_complete=kata_names)
@click.option("--list", "as_list", is_flag=True, help="List what was passed, and when it is due.")
@click.option("--json", "as_json", is_flag=True, help="With --list: print one JSON document.")
@click.option(
    "--rate",
    callback=one_rating,
    shell_complete=one_of(RATINGS),
    metavar="RATING",
    help="Correct the rating of the last round: again, hard, good, easy.",
)
@click.option("--debug", is_flag=True, help="Review by a debug round.")
@click.pass_obj
def review_command(app: App, *, kata: str | None, as_list: bool, as_json: bool, rate: int | None, debug: bool) -> None:
    """Write a kata again from an empty stub, in a file of its own; your answer stays as it is.

    Without KATA, the one that is due and likeliest forgotten. FSRS says when: each round is rated once, by what it
    took. Given up is again; passed after a hint, or in more than twice the minutes, is hard; at the first grading in
    under half of them easy; else good.
    """
    if as_json and not as_list:
        raise click.UsageError(_("--json goes with --list."))
    if sum((as_list, rate is not None, debug)) > 1:
        raise click.UsageError(_("--list, --rate and --debug exclude each other."))
    wanted = catalog.find(app.kata_id(kata)) if kata is not None else None
    if as_list:
        _list(standing(app), wanted, as_json=as_json)
    elif rate is not None:
        click.echo(rate_last(app, wanted, rate))
    elif debug:
        _debug(app, wanted)
    else:
        _review(app, wanted)


def _review(app: App, wanted: Kata | None) -> None:
    found = standing(app)
    opened = open_review(found, wanted)
    chosen = opened or wanted or _due(found)
    if chosen is None:
        return
    if opened is None:
        refuse_unpassed(found, chosen)
    begin(app, chosen, anew=opened is None)


def refuse_unpassed(found: Standing, chosen: Kata) -> None:
    """Refuse to review what was never passed. Raises UsageError."""
    if chosen.id not in found.passed and chosen.id not in found.cards:
        raise UsageError(
            _("{kata} has not been passed yet: there is nothing to review.").format(kata=chosen.id),
            _("`kata start {kata}` begins it.").format(kata=chosen.id),
        )


def begun(app: App, chosen: Kata, *, anew: bool) -> tuple[bool, Path | None]:
    """Begin the review of a kata, or go on with it: an empty stub in a file of its own.

    Tell whether that was written, and where an older one was moved.
    """
    name = catalog.review(chosen.id)
    stub = app.beginning(chosen)
    # Told to the history first: a file without a round could not be rated.
    app.history.begin(name, anew=anew)
    moved = app.workspace.plant(name, stub) if anew else None
    written = anew or app.workspace.start(name, stub)
    app.remember_workspace()
    return written, moved


def begin(app: App, chosen: Kata, *, anew: bool) -> None:
    """Begin the review of a kata, or go on with it, and show the task. Raises MockRuns."""
    from grader.show.console import console, heading, markdown, next_step, say  # noqa: PLC0415 - rich is for people

    refuse(app, chosen.id)
    name = catalog.review(chosen.id)
    path = app.workspace.path(name)
    brief = chosen.brief(app.lang)
    written, moved = begun(app, chosen, anew=anew)
    screen = console()
    heading(screen, catalog.typed(name))
    markdown(screen, brief)
    screen.print()
    if moved:
        say(screen, _("The older file is now {moved}.").format(moved=shown(moved)))
    if written:
        say(screen, _("{path} is written; your answer stays as it is.").format(path=shown(path)))
    else:
        say(screen, _("{path} is already there: the review goes on.").format(path=shown(path)))
    next_step(screen, _("Write it again in {path}, then `kata grade`.").format(path=shown(path)))


def open_review(found: Standing, wanted: Kata | None) -> Kata | None:
    """Return the kata whose review goes on: the one that was begun last."""
    newest: dict[str, Round] = {one.name: one for one in found.rounds if catalog.kind_of(one.name) == "review"}
    opened = [one for one in newest.values() if one.over is None and catalog.exists(one.kata)]
    if wanted:
        opened = [one for one in opened if one.kata == wanted.id]
    return catalog.katas()[max(opened, key=lambda one: one.number).kata] if opened else None


def _due(found: Standing) -> Kata | None:
    """Return what is due and likeliest forgotten; None, after a sentence, where nothing is."""
    from grader.practice.agenda import due  # noqa: PLC0415 - for this alone
    from grader.show.console import console, next_step, say  # noqa: PLC0415 - rich is for people
    from grader.show.practice import since  # noqa: PLC0415

    cards = due(found.cards, found.now)
    if cards:
        return catalog.katas()[cards[0].id]
    screen = console()
    coming = sorted((card.due, card.id) for card in found.cards.values() if card.id in catalog.katas())
    if coming:
        day = found.cards[coming[0][1]].day
        say(screen, _("Nothing is due; next: {kata}, {when}.").format(kata=coming[0][1], when=since(found.today, day)))
    else:
        say(screen, _("Nothing is due: what you pass comes back here before you forget it."))
    next_step(screen, _("`kata today` shows what is next."))
    return None


def _debug(app: App, wanted: Kata | None) -> None:
    from grader.cli.course import start_debugging  # noqa: PLC0415 - only debug rounds need the banks

    found = standing(app)
    if wanted is not None:
        refuse_unpassed(found, wanted)
    chosen = wanted or _due(found)
    if chosen is not None:
        start_debugging(app, chosen, None, None, counts=True)


def rate_last(app: App, wanted: Kata | None, rating: int) -> str:
    """Correct the rating of the round that was over last, and say so. Raises UsageError where none is over."""
    rated = [one for one in rounds(app.history) if one.over and one.counts and one.rating()]
    if wanted:
        rated = [one for one in rated if one.kata == wanted.id]
    if not rated:
        raise UsageError(
            _("No round is over that could be rated."), _("A round is over when it is passed or given up.")
        )
    last = max(rated, key=lambda one: (one.over or one.began, one.number))
    app.history.rate(last.kata, rating, start=last.number)
    from grader.show.practice import since  # noqa: PLC0415 - rich is for people

    found = standing(app)
    when = since(found.today, found.cards[last.kata].day)
    return _("{kata} is rated {rating}: {when}.").format(kata=last.kata, rating=_(WORDS[rating]), when=when)


def _list(found: Standing, wanted: Kata | None, *, as_json: bool) -> None:
    own = [
        card for card in found.cards.values() if card.id in catalog.katas() and (wanted is None or wanted.id == card.id)
    ]
    own.sort(key=lambda card: (card.due, card.id))
    if as_json:
        click.echo(json.dumps({"schema": SCHEMA, "reviews": [_listed(card) for card in own]}, indent=2))
        return
    from grader.show.console import console, next_step, say  # noqa: PLC0415 - rich is for people
    from grader.show.practice import since, table  # noqa: PLC0415

    screen = console()
    if not own:
        say(screen, _("Nothing has been passed yet."))
    rows = [(card.id, since(found.today, card.day)) for card in own]
    table(screen, rows)
    if any(card.is_due(datetime.now(UTC)) for card in own):
        next_step(screen, _("`kata review` reviews what is due."))


def _listed(card: "Card") -> dict[str, Any]:
    return {
        "kata": card.id,
        "due": card.due.isoformat(),
        "day": card.day.isoformat(),
        "last": card.last.isoformat(),
        "reviews": card.reviews,
        "lapses": card.lapses,
        "recall": round(card.recall, 4),
    }
