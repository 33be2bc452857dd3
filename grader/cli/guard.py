"""Whether a mock interview runs, and what it forbids: nothing may help in it."""

from datetime import UTC, datetime
from typing import Any

from grader.cli.base import App, Target
from grader.errors import MockRuns
from grader.history import History
from grader.language import _
from grader.practice.mock import BEGUN, Mock


def running(app: App) -> Mock | None:
    """Return the mock interview that runs, None where none does."""
    return app.ask(running_in, None, "")


def running_in(history: History) -> Mock | None:
    """Return the mock interview that runs in a history."""
    row = next((row for row in reversed(history.mocks()) if row.ended is None), None)
    return Mock.of(row, history.mock_steps(row.number)) if row else None


def refuse(app: App, kata_id: str) -> None:
    """Refuse what would help in a mock interview. Raises MockRuns."""
    mock = running(app)
    if mock and kata_id in mock.katas():
        raise MockRuns(kata_id)


def refuse_any(app: App) -> None:
    """Refuse what would help in any mock interview. Raises MockRuns."""
    mock = running(app)
    if mock:
        raise MockRuns(mock.plan.stages[0].kata)


def touched(app: App, name: str | None, *, debug: bool) -> Target:
    """Return what help is asked for, as `App.touched` does. Raises MockRuns, before it is made the current one.

    What was never begun does not take the place of what is under way.
    """
    target = app.target(name, debug=debug)
    refuse(app, target.kata)
    app.touch(
        target, named=bool(name or debug) and not app.ask(lambda history: _waits(app, history, target), False, "")
    )
    return target


def _waits(app: App, history: History, target: Target) -> bool:
    current = history.current()
    begun = history.started(target.name) is not None or app.any_workspace.present(target.name) is not None
    return not begun and current is not None and history.under_way(current)


def planted_in(history: History, name: str) -> dict[str, Any]:
    """Return what was planted in the file of a stage when a mock interview asked it last; nothing where nothing was."""
    for row in reversed(history.mocks()):
        mock = Mock.of(row, history.mock_steps(row.number))
        for number, stage in enumerate(mock.plan.stages):
            if stage.name == name and (begun := mock.step(BEGUN, number)):
                planted: dict[str, Any] = begun.detail.get("planted", {})
                return planted
    return {}


def goes_on(mock: Mock) -> str:
    """Say what to type while a mock interview runs."""
    if mock.stage is None:
        return _("All stages are handed in; `kata mock` asks the last questions and shows the results.")
    return _("`kata mock` goes on with the interview: {clock}.").format(clock=minutes_left(mock))


def minutes_left(mock: Mock) -> str:
    """Say how much time is left, or how long overtime has lasted."""
    seconds = int(mock.left(datetime.now(UTC)).total_seconds())
    clock = f"{abs(seconds) // 60}:{abs(seconds) % 60:02d}"
    return _("{clock} left").format(clock=clock) if seconds >= 0 else _("overtime {clock}").format(clock=clock)
