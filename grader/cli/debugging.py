"""Debug rounds: the model answer with mistakes planted in it, to be found, repaired and shown in the end."""

import secrets
from typing import Any, Final, NamedTuple

from grader import catalog
from grader.catalog import Kata
from grader.cli.base import App, Target
from grader.cli.guard import refuse
from grader.debug.plant import Planted, plant, sound_text
from grader.errors import NoDebugRound, NotRepairedYet, RoundIsOpen
from grader.history import DebugRound
from grader.language import LANGUAGES, _, plural
from grader.text import shown

SEEDS = 10**6


def begin(app: App, kata: Kata, bugs: int | None, seed: int | None, *, counts: bool = False) -> list[str]:
    """Begin a debug round, or go on with the one that is open; return what there is to say.

    A new one ``counts`` as a review of its kata where the learner wants that.

    Raises RoundIsOpen where others are asked for than those that an open round has, and StateError: without a
    history nobody could tell afterwards what was planted.
    """
    refuse(app, kata.id)
    name = catalog.debug_round(kata.id)
    path = shown(app.workspace.path(name))
    opened = app.history.debug_round(name)
    if opened is not None and not opened.over:
        if bugs not in {None, opened.bugs} or seed not in {None, opened.seed}:
            raise RoundIsOpen(kata.id, opened.bugs, opened.seed)
        written = app.workspace.start(name, Planted.read(opened.planted).source)
        app.history.begin(name, anew=False, counts=counts)
        stays = _("{path} is already there and stays as it is; `kata reset {kata} --debug` plants the same anew.")
        first = (_("{path} is written.") if written else stays).format(path=path, kata=kata.id)
        return [first, _holds(opened.bugs, opened.seed), *_outdated(kata, opened)]
    bugs = kata.bugs if bugs is None else bugs
    seed = secrets.randbelow(SEEDS) if seed is None else seed
    planted = plant(kata, bugs, seed, app.lang)
    # Told to the history first: a file whose mistakes nobody remembers could never be shown for what it is.
    app.history.plant(name, seed=seed, bugs=bugs, planted=planted.document(), counts=counts)
    moved = app.workspace.plant(name, planted.source)
    said = [_("The older file is now {moved}.").format(moved=shown(moved))] if moved else []
    return [*said, _("{path} is written.").format(path=path), _holds(bugs, seed)]


HUSHED: Final[dict[str, Any]] = {"causes": [], "mistakes": []}
"""What a debug round does not tell: its names and places are what the learner is to find."""


def judged(app: App, target: Target, report: dict[str, Any], *, whole: bool) -> tuple[dict[str, Any], Planted | None]:
    """Return the report of a debug round, facts without a diagnosis, and after the repair what was planted.

    The diagnosis would read out what the learner is to find.
    """
    consequence = _("What was planted is not known here.")
    debug_round = app.ask(lambda history: history.debug_round(target.name), None, consequence)
    found: dict[str, Any] = {"seed": None, "bugs": None, "planted": None}
    if debug_round is None:
        return report | HUSHED | {"debug": found}, None
    _warn_if_outdated(app, catalog.find(target.kata), debug_round)
    planted = Planted.read(debug_round.planted)
    repaired = whole and report["verdict"] == "passed"
    found |= {"seed": debug_round.seed, "bugs": debug_round.bugs}
    if repaired or debug_round.over:
        found["planted"] = [one.in_language(app.lang) for one in planted.plants]
    return report | HUSHED | {"debug": found}, planted if repaired else None


def revealed(app: App, kata: Kata, *, give_up: bool) -> Planted:
    """Return what was planted in a kata, and record that it was shown.

    Raises NoDebugRound, and NotRepairedYet before the repair, unless the learner gives up.
    """
    name = catalog.debug_round(kata.id)
    debug_round = app.history.debug_round(name)
    if debug_round is None:
        raise NoDebugRound(kata.id)
    if not debug_round.over and not give_up:
        raise NotRepairedYet(kata.id)
    app.ask(
        lambda history: history.reveal(name, gave_up=not debug_round.over),
        None,
        _("That the planted mistakes were shown could not be noted."),
    )
    _warn_if_outdated(app, kata, debug_round)
    return Planted.read(debug_round.planted)


class Hint(NamedTuple):
    """A hint for a debug round."""

    heading: str
    text: str
    another: bool
    """Whether there is one after it."""


def hint(app: App, kata: Kata) -> Hint | None:
    """Take the next hint of a debug round; None when all were taken. Raises NoDebugRound."""
    name = catalog.debug_round(kata.id)
    debug_round = app.history.debug_round(name)
    if debug_round is None:
        raise NoDebugRound(kata.id)
    return hint_for(app, name, debug_round.planted)


def hint_for(app: App, name: str, document: dict[str, Any]) -> Hint | None:
    """Take the next hint for what was planted under a name; None when all were taken.

    Each planted mistake has two, a nudge and its name. Those that the file still has come first.
    """
    planted = Planted.read(document)
    plants = planted.plants
    present = (app.workspace.present(name) or b"").decode("utf-8", "replace")
    still_there = [plants.index(one) for one in planted.left_in(present)]
    rungs = [rung for number in still_there or range(len(plants)) for rung in (2 * number + 1, 2 * number + 2)]
    first: int | None = rungs[0]
    rung = app.ask(
        lambda history: history.take_hint(name, rungs),
        first,
        _("The hint could not be noted, so the next call shows the same one."),
    )
    if rung is None:
        return None
    left = set(rungs) - {rung} - app.history.hints_taken(name)
    number, names_it = divmod(rung - 1, 2)
    heading = _("Planted mistake {number} of {count}").format(number=number + 1, count=len(plants))
    chosen = plants[number]
    named = f"**{chosen.title[app.lang]}**\n\n{chosen.explain[app.lang]}"
    return Hint(heading, named if names_it else chosen.nudge[app.lang], another=bool(left))


def _warn_if_outdated(app: App, kata: Kata, debug_round: DebugRound) -> None:
    for sentence in _outdated(kata, debug_round):
        app.warn(sentence)


def _holds(bugs: int, seed: int) -> str:
    sentence = plural(
        "It is the model answer with {count} mistake planted in it (seed {seed}).",
        "It is the model answer with {count} mistakes planted in it (seed {seed}).",
        bugs,
    )
    return sentence.format(count=bugs, seed=seed)


def _outdated(kata: Kata, debug_round: DebugRound) -> list[str]:
    if Planted.read(debug_round.planted).sound in {sound_text(kata, lang) for lang in LANGUAGES}:
        return []
    sentence = _(
        "The model answer of {kata} has changed since these mistakes were planted, so its cases may ask for more than "
        "their repair."
    )
    return [sentence.format(kata=kata.id)]
