"""What is said after a pass: what the round took, how it is rated, when the kata comes back."""

from dataclasses import dataclass
from datetime import UTC, date, datetime

from grader import catalog
from grader.cli.base import App
from grader.history import History
from grader.language import _
from grader.practice.rounds import Ending, ending, rounds
from grader.practice.schedule import cards


@dataclass(frozen=True, slots=True)
class Passed:
    """The round that a pass ends."""

    took: str
    """What it took, in words."""
    rating: int
    """How it is rated, 0 where it is not."""
    when: str
    """When the kata comes back, in words."""


def passed(app: App, name: str) -> Passed | None:
    """Return what there is to know of the round that a pass ends now; None where it was over before."""
    found = app.ask(lambda history: ending(history, name), None, "")
    if found is None:
        return None
    from grader.show.practice import round_facts, since  # noqa: PLC0415 - after a pass only

    took = round_facts(found.round, number=found.number)
    rating = found.round.rating()
    if found.round.counts and rating and catalog.exists(found.round.kata):
        now = datetime.now(UTC)
        day = app.ask(lambda history: _due(history, found, now), None, "")
        if day:
            return Passed(took, rating, since(now.astimezone().date(), day))
    return Passed(took, 0, "")


def afterwards(app: App, name: str) -> list[str]:
    """Return what there is to say of the round that a pass ends now; nothing where it was over before."""
    found = passed(app, name)
    if found is None:
        return []
    said = [found.took]
    if found.rating:
        from grader.cli.review import WORDS  # noqa: PLC0415 - after a pass only

        sentence = _("rated {rating}, {when}; `kata review --rate RATING` corrects that")
        said.append(sentence.format(rating=_(WORDS[found.rating]), when=found.when))
    if not catalog.is_debug_round(name):
        kata_id = catalog.kata_of(name)
        offer = _("`kata talk {kata}` asks what an interviewer asks now; `kata solution {name} --diff` compares.")
        said.append(offer.format(kata=kata_id, name=catalog.typed(name)))
        from grader.cli.drawing import can_draw  # noqa: PLC0415 - after a pass only

        if can_draw(catalog.find(kata_id)):
            said.append(_("`kata show {kata} --weights` draws what it computes.").format(kata=kata_id))
    return said


def _due(history: History, found: Ending, now: datetime) -> date:
    """Return the day on which the kata is due again, this pass counted."""
    others = [one for one in rounds(history, now) if one.number != found.round.number or one.name != found.round.name]
    done = sorted([*others, found.round], key=lambda one: one.number)
    return cards(history, done, now)[found.round.kata].day
