"""The far ends of a judge's line, without processes: a keeper that starts nothing, sandboxes that only take notes."""

from __future__ import annotations

import os
import socket
import threading
from typing import Any

from grader.transport import jsonlines


class Keeper:
    """The other end of a line: keeps and starts what a real one would."""

    def __init__(self, end: socket.socket, *, forks: bool = True) -> None:
        self._end, self._forks = end, forks
        self.frames: list[bytes] = []
        self.asked: list[dict[str, Any]] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                message, _ = jsonlines.receive(self._end)
            except (EOFError, OSError):
                return
            if message["op"] == "preload":
                self.frames = [jsonlines.exactly(self._end, size) for size in message["sizes"]]
                continue
            self.asked.append(message)
            ends = [os.open(os.devnull, os.O_RDONLY) for _ in range(3)]
            try:
                jsonlines.send(self._end, {"pid": len(self.asked), "inherits": self._forks}, tuple(ends))
            except OSError:  # who asked has hung up since, as at the end of a test
                return
            finally:
                for end in ends:
                    os.close(end)


class NotedSandbox:
    """What the judge knows of a sandbox, without one."""

    made: list[NotedSandbox]

    def __init__(self, _keeper: Any, pid: int, fds: list[int], preloaded: dict[Any, int], deadline: float) -> None:
        self.pid, self.preloaded, self.deadline = pid, preloaded, deadline
        self.is_waiting, self.discarded = True, False
        self.told: list[Any] = []
        for fd in fds:
            os.close(fd)
        self.made.append(self)

    def begin(self, deadline: float) -> None:
        """Serve a grading."""
        self.deadline = deadline

    def preload(self, several: Any) -> None:
        """Be told what will be asked."""
        self.told.append(several)

    def attend(self) -> bool:
        """Whether it still unpacks."""
        return bool(self.told)

    def discard(self) -> None:
        """End."""
        self.discarded = True
