"""What the client hears while a grading runs, and when the judge looks whether it has something newer to say."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from typing import Any, Final

from grader.judge.runs.outcome import CaseOutcome
from grader.transport import jsonlines

PROGRESS_SECONDS: Final = 0.05


class Stale(Exception):
    """The client has something newer to say."""


def tell(client: socket.socket, event: dict[str, Any]) -> None:
    """Send the client an event; who has gone hears nothing."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        jsonlines.send(client, event)


def has_said_something(client: socket.socket, seconds: float | None = 0) -> bool:
    """Whether something came of the client, perhaps after so many seconds; None waits for it."""
    return bool(select.select([client], [], [], seconds)[0])


def next_request(client: socket.socket) -> dict[str, Any] | None:
    """Return what came, None where the client has gone."""
    try:
        return jsonlines.receive(client)[0]
    except (EOFError, OSError):
        return None


class Progress:
    """Collects the outcomes of one grading and tells of them, not too often; and notes where its seconds go."""

    def __init__(self, client: socket.socket, *, may_be_stale: bool) -> None:
        """``may_be_stale``: whether a newer request ends the grading; then its methods raise Stale."""
        self._client, self._may_be_stale = client, may_be_stale
        self._started = self._lap = self._told = time.monotonic()
        self._failed = 0
        self.spent: dict[str, float] = {}
        self.outcomes: list[CaseOutcome] = []

    def begins(self, total: int) -> None:
        """So many cases are to be decided."""
        self._told = time.monotonic()
        tell(self._client, {"event": "plan", "total": total})

    def confirms(self) -> None:
        """All that shows something new has passed; the rest of the cases begins."""
        tell(self._client, {"event": "confirming"})

    def notes(self, case: CaseOutcome) -> None:
        """A case is decided."""
        self.outcomes.append(case)
        self._failed += case.outcome not in ("passed", "skipped")
        if self._is_time():
            done = {"done": len(self.outcomes), "failed": self._failed, "title": case.title}
            tell(self._client, {"event": "progress", **done})

    def hears(self, step: int, steps: int, loss: float) -> None:
        """A training has come so far."""
        if step == steps or self._is_time():
            tell(self._client, {"event": "training", "step": step, "steps": steps, "loss": loss})

    def lap(self, name: str) -> None:
        """Note what was done since the last time."""
        now = time.monotonic()
        self.spent[name] = round(now - self._lap, 4)
        self._lap = now

    @property
    def seconds(self) -> float:
        """How long the grading has taken up to now."""
        return round(time.monotonic() - self._started, 3)

    def _is_time(self) -> bool:
        now = time.monotonic()
        if now <= self._told + PROGRESS_SECONDS:
            return False
        self._told = now
        if self._may_be_stale and has_said_something(self._client):
            raise Stale
        return True
