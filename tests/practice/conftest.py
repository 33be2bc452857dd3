"""A history of its own, and a clock that tests set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grader import records
from grader.history import History

EVENING = datetime(2026, 3, 2, 19, 0, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], datetime]:
    """Return a function that sets the clock to so many minutes after seven in the evening."""

    def at(minutes: float) -> datetime:
        now = EVENING + timedelta(minutes=minutes)
        text = now.isoformat(timespec="microseconds")
        monkeypatch.setattr(records, "now_text", lambda: text)
        monkeypatch.setattr("grader.history.now_text", lambda: text)
        return now

    return at


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    """Return a new history."""
    made = History(tmp_path, pytest.fail)
    yield made
    made.close()
