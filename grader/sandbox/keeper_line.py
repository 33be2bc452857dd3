"""The judge's line to its keeper, which starts and ends sandboxes."""

from __future__ import annotations

import socket
from typing import Any, Final

from grader.server import lines

MEMORY_BUDGET: Final = 1 << 30
PLAIN_LANE, DEVICE_LANE = LANES = ("plain", "second")
"""Two sandboxes work at the same time. The simulated device cannot be unregistered: only the second one has it."""
ONE_LANE: Final = (DEVICE_LANE,)
"""Where other answers keep the processors busy, one sandbox does it all."""


class KeeperLine:
    """Asks for sandboxes ahead of time, takes them in order, has them ended."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._asked: list[str] = []
        self._promised: list[tuple[str, dict[str, Any], list[int]]] = []

    def ask(self, lane: str, *, cpu_seconds: float) -> None:
        """Ask for a sandbox for a lane without waiting for it."""
        message = {"op": "spawn", "memory": MEMORY_BUDGET, "cpu_seconds": cpu_seconds, "device": lane == DEVICE_LANE}
        lines.send(self._control, message)
        self._asked.append(lane)

    def promised(self, lane: str) -> bool:
        """Whether a sandbox for a lane was asked for and not taken."""
        return lane in self._asked or any(name == lane for name, _document, _fds in self._promised)

    def take(self, lane: str) -> tuple[int, list[int]]:
        """Return the process id and the descriptors of the oldest sandbox that was asked for, for a lane."""
        while True:
            for index, (name, document, fds) in enumerate(self._promised):
                if name == lane:
                    del self._promised[index]
                    return document["pid"], fds
            self._collect()

    def retire(self, pid: int) -> int | None:
        """End a sandbox with all that it started; returns its wait status."""
        while self._asked:
            self._collect()
        lines.send(self._control, {"op": "retire", "pid": pid})
        status: int | None = lines.receive(self._control)[0]["status"]
        return status

    def discard(self, pid: int) -> None:
        """End a sandbox in the background."""
        lines.send(self._control, {"op": "discard", "pid": pid})

    def _collect(self) -> None:
        document, fds = lines.receive(self._control)
        self._promised.append((self._asked.pop(0), document, fds))


class NoSandboxes(KeeperLine):
    """The keeper of a grading without an answer: what is asked of it never comes."""

    def __init__(self) -> None:
        """Need no line to anyone."""

    def ask(self, lane: str, *, cpu_seconds: float) -> None:
        """Start nothing."""

    def promised(self, lane: str) -> bool:
        """All that anybody may want."""
        return bool(lane)
