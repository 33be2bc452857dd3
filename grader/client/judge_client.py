"""The client's end of a line to a judge."""

from __future__ import annotations

import contextlib
import math
import select
import socket
import time
from typing import Any, Final, Self

from grader.errors import GraderFailed
from grader.language import _
from grader.transport import jsonlines

HEARING_SECONDS: Final = 0.05
PATIENCE_SECONDS: Final = 0.15


class GoneError(Exception):
    """The judge at the other end of a line has gone, or asks to be replaced."""


class Cancelled(Exception):  # noqa: N818 - it is no error
    """A grading was given up because its client asked for it."""


class JudgeClient:
    """A line to one judge and, through its keeper, to all that belongs to it."""

    def __init__(self, door: socket.socket, kata: str = "", lang: str = "en") -> None:
        """Ask the server for a judge. Raises EOFError or OSError where it is gone."""
        jsonlines.send(door, {"op": "line", "kata": kata, "lang": lang})
        _document, (channel, lifeline) = jsonlines.receive(door)
        self._channel, self._lifeline = socket.socket(fileno=channel), socket.socket(fileno=lifeline)
        self._cancelled_at = math.inf
        self.hurried = False
        """Whether the judge did not hear in time that its grading was cancelled."""

    def send(self, request: dict[str, Any]) -> None:
        """Ask for something."""
        self._channel.settimeout(None)
        self._cancelled_at = math.inf
        jsonlines.send(self._channel, request)

    def receive(self, deadline: float) -> dict[str, Any]:
        """Wait for the next event. Raises GraderFailed after the deadline, Cancelled soon after :meth:`cancel`."""
        while not select.select([self._channel], [], [], HEARING_SECONDS)[0]:
            if time.monotonic() > self._cancelled_at + PATIENCE_SECONDS:
                self.hurried = True
                raise Cancelled
            if time.monotonic() > deadline:
                raise GraderFailed(_("the grading did not end in time and was given up"))
        self._channel.settimeout(max(0.01, deadline - time.monotonic()))
        try:
            return jsonlines.receive(self._channel)[0]
        except TimeoutError:
            raise GraderFailed(_("the grading did not end in time and was given up")) from None

    def cancel(self) -> None:
        """Tell the judge that nobody waits for its verdict."""
        self._cancelled_at = min(self._cancelled_at, time.monotonic())
        with contextlib.suppress(OSError):
            jsonlines.send(self._channel, {"op": "cancel", "keep": True})

    def close(self) -> None:
        """Hang up: the keeper ends everything."""
        self._channel.close()
        self._lifeline.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
