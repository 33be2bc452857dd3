"""What a mock interview tells of a file while it runs: as much as was agreed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.cli.attempt import graded, keep, page
from grader.cli.base import App, Target
from grader.cli.guard import running
from grader.errors import MockRuns
from grader.language import _
from grader.practice.mock import GRADED, Mock
from grader.text import shown

if TYPE_CHECKING:
    from rich.console import Console

    from grader.client.session import Session


def grade_in_mock(app: App, target: Target, *, plain: bool) -> dict[str, Any] | None:
    """Grade the file of a stage as far as the agreed feedback goes; None where no mock interview asks that kata.

    ``plain`` is what the candidate asks for: no case alone, no document. Raises MockRuns for whatever tells more.
    """
    mock = running(app)
    if mock is None or target.kata not in mock.katas():
        return None
    stage = mock.stage
    if stage is None or target.name != stage.name or not plain:
        raise MockRuns(target.kata)
    from grader.show.console import console  # noqa: PLC0415 - rich is for people

    return feedback(app, mock, console())


@dataclass(frozen=True, slots=True)
class Told:
    """What a mock interview tells of a file while it runs."""

    report: dict[str, Any]
    """Empty where nothing was graded."""
    said: str
    """In words; empty where the whole report is told."""


def told_of(app: App, mock: Mock, source: str) -> Told:
    """Keep the file of the present stage, and return what was agreed to tell of it."""
    stage = mock.stage
    assert stage is not None
    keep(app, stage.name, source)
    if mock.plan.feedback == "none":
        path = shown(app.any_workspace.path(stage.name))
        return Told({}, _("{path} is kept. It is graded when the interview is over.").format(path=path))
    from grader.client import session  # noqa: PLC0415 - only where somebody is told

    with session.open(stays=True) as grader:
        report = graded_stage(app, grader, stage.kata, stage.name, source)
    passed = sum(case["outcome"] == "passed" for case in report["cases"])
    app.ask(
        lambda history: history.mock_step(
            mock.number, GRADED, mock.at, once=False, verdict=report["verdict"], passed=passed
        ),
        False,
        "",
    )
    if mock.plan.feedback == "full":
        return Told(report | {"seed": None}, "")
    count = sum(case["outcome"] != "skipped" for case in report["cases"])
    return Told(report, _("{passed} of {count} cases pass.").format(passed=passed, count=count))


def feedback(app: App, mock: Mock, screen: "Console") -> dict[str, Any]:
    """Show what was agreed to tell of the file of the present stage. Returns the report, empty where there is none."""
    from grader.show.console import next_step, say  # noqa: PLC0415 - rich is for people

    stage = mock.stage
    assert stage is not None
    told = told_of(app, mock, app.answer(stage.name))
    if told.said:
        say(screen, told.said)
    else:
        page(app, stage.name, told.report, None, whole=True, own=False)(screen)
    if not told.report:
        next_step(screen, _("`kata mock --submit` hands it in."))
    return told.report


def graded_stage(app: App, grader: "Session", kata_id: str, name: str, source: str) -> dict[str, Any]:
    """Grade the text of a stage."""
    from grader.client import session  # noqa: PLC0415 - it is there long since

    path = shown(app.any_workspace.path(name))
    return graded(grader, session.Request(kata=kata_id, source=source, filename=path, lang=app.lang))
