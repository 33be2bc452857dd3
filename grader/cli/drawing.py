"""Drawing what an answer computes: `kata show --weights`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader import catalog
from grader.cli.base import App, Target
from grader.cli.formatting import place, refuse_foreign
from grader.cli.guard import refuse
from grader.errors import UsageError
from grader.formats.svg import svg as svg_of
from grader.language import _
from grader.text import shown
from grader.transport.request import DRAWING

if TYPE_CHECKING:
    from rich.console import Console


def draw(app: App, kata: str | None, screen: "Console", svg: Path | None) -> int:
    """Draw what the answer to a kata computes; into a file where one is named. Returns the exit code.

    Raises UsageError where a kata has nothing to draw, MockRuns in a mock interview.
    """
    from grader.show import drawings  # noqa: PLC0415 - rich is for people
    from grader.show.console import next_step, say  # noqa: PLC0415 - likewise

    if svg is not None:
        refuse_foreign(svg, "<svg ")
    target = app.target(kata, debug=False)
    chosen = catalog.find(target.kata)
    drawn = drawn_by(app, target)
    if drawn["failure"]:
        say(screen, _("Your answer draws nothing: {failure}").format(failure=drawn["failure"]))
        next_step(screen, _("`kata grade {kata}` says more.").format(kata=target.typed))
        return 1

    if svg is not None:
        every = [*drawn["yours"], *drawn["model"]]
        place(svg, svg_of(every, chosen.title[app.lang]))
        say(screen, _("Written to {path}.").format(path=shown(svg)))
        return 0
    for title, maps in ((_("yours"), drawn["yours"]), (_("model answer"), drawn["model"])):
        for one in maps:
            drawings.show(screen, one, title)
    return 0


def can_draw(kata: catalog.Kata) -> bool:
    """Tell whether there is something to draw of a kata."""
    return (kata.solution / DRAWING).is_file()


def drawn_by(app: App, target: Target) -> dict[str, Any]:
    """Return what an answer draws, and the model answer once the kata is passed.

    Raises UsageError where a kata has nothing to draw, MockRuns in a mock interview.
    """
    chosen = catalog.find(target.kata)
    refuse(app, chosen.id)
    if not can_draw(chosen):
        with_one = [one.id for one in catalog.katas().values() if can_draw(one)]
        raise UsageError(
            _("There is nothing to draw of {kata}.").format(kata=chosen.id),
            hint=_("There is of {katas}.").format(katas=_(", ").join(with_one)),
        )
    path = app.workspace.path(target.name)
    source = app.answer(target.name, None)
    passed = app.ask(lambda history: bool(history.summary(chosen.id).passed), False, "")
    from grader.client import session  # noqa: PLC0415 - after the errors that cost nothing

    request = session.Request(kata=chosen.id, source=source, filename=shown(path), lang=app.lang)
    with session.open(stays=True) as opened:
        drawn: dict[str, Any] = opened.draw(request, model=passed)
    return drawn
