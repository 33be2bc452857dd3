"""Whether a mock interview runs, and what it forbids: nothing may help in it."""

from datetime import UTC, datetime

from grader.cli.base import App
from grader.errors import MockRuns
from grader.history import History
from grader.language import _
from grader.practice.mock import Mock


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


def minutes_left(mock: Mock) -> str:
    """Say how much time is left, or how long overtime has lasted."""
    seconds = int(mock.left(datetime.now(UTC)).total_seconds())
    clock = f"{abs(seconds) // 60}:{abs(seconds) % 60:02d}"
    return _("{clock} left").format(clock=clock) if seconds >= 0 else _("overtime {clock}").format(clock=clock)
