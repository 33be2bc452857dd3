"""The judge's line to its keeper, which starts and ends sandboxes.

They are asked for ahead of time and wait for a file; meanwhile they are told what they will be asked for.
"""

from __future__ import annotations

import math
import socket
from typing import Final, NamedTuple

from grader.judge.workers.sandbox import MEMORY_BUDGET, Sandbox
from grader.transport import jsonlines
from grader.transport.operations import Message, Several, frame_to_preload

PLAIN_WORKER, DEVICE_WORKER = WORKERS = ("plain", "second")
"""Two sandboxes work at the same time. The simulated device cannot be unregistered: only the second one has it.

Gradients on a real device are taken in the first one: autograd serves one kind of accelerator in a process.
"""
ONE_WORKER: Final = (DEVICE_WORKER,)
"""Where other answers keep the processors busy, one sandbox does it all."""


class _Started(NamedTuple):
    """A sandbox that the keeper has started and nobody has looked at."""

    worker: str
    pid: int
    fds: list[int]
    preloaded: dict[Message, int]


class KeeperClient:
    """Asks for sandboxes ahead of time, takes them in order, has them ended."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._asked: list[tuple[str, dict[Message, int]]] = []
        self._started: list[_Started] = []
        self._waiting: dict[str, Sandbox] = {}
        """At most one for each worker: it is told what it will be asked for, and has nothing of an answer in it."""
        self._inherited: dict[Message, int] = {}
        self._numbers = 0

    def ask(self, worker: str, *, cpu_seconds: float) -> bool:
        """Have a sandbox started for a worker, unless there is one; waits for nothing. Returns whether it was."""
        if worker in self._waiting or any(name == worker for name, *_ in (*self._asked, *self._started)):
            return False
        message = {
            "op": "spawn",
            "memory": MEMORY_BUDGET,
            "cpu_seconds": cpu_seconds,
            "device": worker == DEVICE_WORKER,
        }
        jsonlines.send(self._control, message)
        self._asked.append((worker, self._inherited))
        return True

    def take(self, worker: str, deadline: float, *, cpu_seconds: float) -> Sandbox:
        """Return a sandbox for what must be over at a time (of the monotonic clock); asks for it where nobody has."""
        sandbox = self._waiting.pop(worker, None)
        if sandbox is not None and sandbox.is_waiting:
            sandbox.begin(deadline)
            return sandbox
        if sandbox is not None:  # it has ended for a reason of its own
            sandbox.discard()
        self.ask(worker, cpu_seconds=cpu_seconds)
        return self._next(worker, deadline)

    def preload(self, worker: str, operations: list[Several]) -> bool:
        """Let the sandbox of a worker unpack what it will be asked for. Returns whether there may be more to do."""
        if worker not in self._waiting:
            sandbox = self._waiting[worker] = self._next(worker, math.inf)
            for several in operations:
                sandbox.preload(several)
        return self._waiting[worker].attend()

    def preload_all(self, operations: list[Several]) -> None:
        """Let all sandboxes that are asked for from now on have these operations, and none that they had before."""
        frames: list[bytes] = []
        self._inherited = {}
        for several in operations:
            frames.append(frame_to_preload(several, "", self._numbers))
            for message in several:
                self._inherited[message] = self._numbers
                self._numbers += 1
        jsonlines.send(self._control, {"op": "preload", "sizes": list(map(len, frames))})
        self._control.sendall(b"".join(frames))

    def discard_waiting(self) -> None:
        """End the sandboxes that wait: what they were told is not what they will be asked for."""
        for sandbox in self._waiting.values():
            sandbox.discard()
        self._waiting.clear()

    # --- for sandboxes

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

    def _next(self, worker: str, deadline: float) -> Sandbox:
        """Return the oldest sandbox that was asked for, for a worker."""
        while True:
            for index, started in enumerate(self._started):
                if started.worker == worker:
                    del self._started[index]
                    return Sandbox(self, started.pid, started.fds, started.preloaded, deadline)
            self._collect()

    def _collect(self) -> None:
        document, fds = jsonlines.receive(self._control)
        worker, inherited = self._asked.pop(0)
        self._started.append(_Started(worker, document["pid"], fds, inherited if document["inherits"] else {}))
