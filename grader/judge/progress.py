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


class Client:
    """The other end of the line."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    def tell(self, event: dict[str, Any]) -> None:
        """Send an event; who has gone hears nothing."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            jsonlines.send(self._channel, event)

    def has_said_something(self, seconds: float | None = 0) -> bool:
        """Whether something came, perhaps after so many seconds; None waits for it."""
        return bool(select.select([self._channel], [], [], seconds)[0])

    def next_request(self) -> dict[str, Any] | None:
        """Return what came, None where the client has gone."""
        try:
            return jsonlines.receive(self._channel)[0]
        except (EOFError, OSError):
            return None


class Progress:
    """Collects the outcomes of one grading and tells of them, not too often."""

    def __init__(self, client: Client, *, may_be_stale: bool) -> None:
        """``may_be_stale``: whether a newer request ends the grading; then its methods raise Stale."""
        self._client, self._may_be_stale = client, may_be_stale
        self._told = time.monotonic()
        self._failed = 0
        self.outcomes: list[CaseOutcome] = []

    def begins(self, total: int) -> None:
        """So many cases are to be decided."""
        self._client.tell({"event": "plan", "total": total})

    def confirms(self) -> None:
        """All that shows something new has passed; the rest of the cases begins."""
        self._client.tell({"event": "confirming"})

    def notes(self, case: CaseOutcome) -> None:
        """A case is decided."""
        self.outcomes.append(case)
        self._failed += case.outcome not in ("passed", "skipped")
        if self._is_time():
            done = {"done": len(self.outcomes), "failed": self._failed, "title": case.title}
            self._client.tell({"event": "progress", **done})

    def hears(self, step: int, steps: int, loss: float) -> None:
        """A training has come so far."""
        if step == steps or self._is_time():
            self._client.tell({"event": "training", "step": step, "steps": steps, "loss": loss})

    def _is_time(self) -> bool:
        now = time.monotonic()
        if now <= self._told + PROGRESS_SECONDS:
            return False
        self._told = now
        if self._may_be_stale and self._client.has_said_something():
            raise Stale
        return True


class Clock:
    """Where the seconds of a grading go."""

    def __init__(self) -> None:
        self.started = self._last = time.monotonic()
        self.spent: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """Note what was done since the last time."""
        now = time.monotonic()
        self.spent[name] = round(now - self._last, 4)
        self._last = now

    @property
    def seconds(self) -> float:
        """How long it has taken up to now."""
        return round(time.monotonic() - self.started, 3)
