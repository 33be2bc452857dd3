"""The judge's line to its keeper, which starts and ends sandboxes."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Final

from grader.transport import jsonlines
from grader.transport.operations import Message, Several

MEMORY_BUDGET: Final = 1 << 30
PLAIN_WORKER, DEVICE_WORKER = WORKERS = ("plain", "second")
"""Two sandboxes work at the same time. The simulated device cannot be unregistered: only the second one has it."""
ONE_WORKER: Final = (DEVICE_WORKER,)
"""Where other answers keep the processors busy, one sandbox does it all."""


@dataclass(frozen=True, slots=True)
class Promised:
    """A sandbox that was started."""

    pid: int
    fds: list[int]
    """The judge's ends of its channel, its diagnostics and its output."""
    preloaded: dict[Message, int]
    """The operations that it has already, with the numbers under which it knows them."""


class KeeperClient:
    """Asks for sandboxes ahead of time, takes them in order, has them ended."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._asked: list[tuple[str, dict[Message, int]]] = []
        self._promised: list[tuple[str, Promised]] = []
        self._preloaded: dict[Message, int] = {}
        self._numbers = 0

    def preload(self, operations: list[Several]) -> None:
        """Let all sandboxes that are asked for from now on have these operations, and none that they had before."""
        frames: list[bytes] = []
        self._preloaded = {}
        for several in operations:
            frames.append(several.frame_to_preload("", self._numbers))
            for message in several.messages:
                self._preloaded[message] = self._numbers
                self._numbers += 1
        jsonlines.send(self._control, {"op": "preload", "sizes": list(map(len, frames))})
        self._control.sendall(b"".join(frames))

    def ask(self, worker: str, *, cpu_seconds: float) -> None:
        """Ask for a sandbox for a worker without waiting for it."""
        message = {
            "op": "spawn",
            "memory": MEMORY_BUDGET,
            "cpu_seconds": cpu_seconds,
            "device": worker == DEVICE_WORKER,
        }
        jsonlines.send(self._control, message)
        self._asked.append((worker, self._preloaded))

    def promised(self, worker: str) -> bool:
        """Whether a sandbox for a worker was asked for and not taken."""
        return worker in (name for name, _ in (*self._asked, *self._promised))

    def take(self, worker: str) -> Promised:
        """Return the oldest sandbox that was asked for, for a worker."""
        while True:
            for index, (name, promised) in enumerate(self._promised):
                if name == worker:
                    del self._promised[index]
                    return promised
            self._collect()

    def retire(self, pid: int) -> int | None:
        """End a sandbox with all that it started; returns its wait status."""
        while self._asked:
            self._collect()
        jsonlines.send(self._control, {"op": "retire", "pid": pid})
        status: int | None = jsonlines.receive(self._control)[0]["status"]
        return status

    def discard(self, pid: int) -> None:
        """End a sandbox in the background."""
        jsonlines.send(self._control, {"op": "discard", "pid": pid})

    def _collect(self) -> None:
        document, fds = jsonlines.receive(self._control)
        worker, preloaded = self._asked.pop(0)
        self._promised.append((worker, Promised(document["pid"], fds, preloaded if document["inherits"] else {})))


class NoSandboxes(KeeperClient):
    """The keeper of a grading without an answer: what is asked of it never comes."""

    def __init__(self) -> None:
        """Need no line to anyone."""

    def ask(self, worker: str, *, cpu_seconds: float) -> None:
        """Start nothing."""

    def promised(self, worker: str) -> bool:
        """All that anybody may want."""
        return bool(worker)
