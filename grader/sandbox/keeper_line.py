"""The judge's line to its keeper, which starts and ends sandboxes."""

from __future__ import annotations

import socket
from typing import Any, Final

from grader.server import lines

MEMORY_BUDGET: Final = 1 << 30


class KeeperLine:
    """Asks for sandboxes ahead of time, takes them in order, has them ended."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._promised: list[tuple[dict[str, Any], list[int]]] = []
        self._waiting = 0

    def ask(self, *, cpu_seconds: float) -> None:
        """Ask for a sandbox without waiting for it."""
        lines.send(self._control, {"op": "spawn", "memory": MEMORY_BUDGET, "cpu_seconds": cpu_seconds})
        self._waiting += 1

    @property
    def promised(self) -> int:
        """How many sandboxes were asked for and not taken."""
        return self._waiting + len(self._promised)

    def take(self) -> tuple[int, list[int]]:
        """Return the process id and the descriptors of the oldest sandbox that was asked for."""
        if not self._promised:
            self._collect()
        document, fds = self._promised.pop(0)
        return document["pid"], fds

    def retire(self, pid: int) -> int | None:
        """End a sandbox with all that it started; returns its wait status."""
        while self._waiting:
            self._collect()
        lines.send(self._control, {"op": "retire", "pid": pid})
        status: int | None = lines.receive(self._control)[0]["status"]
        return status

    def discard(self, pid: int) -> None:
        """End a sandbox in the background."""
        lines.send(self._control, {"op": "discard", "pid": pid})

    def _collect(self) -> None:
        self._promised.append(lines.receive(self._control))
        self._waiting -= 1
