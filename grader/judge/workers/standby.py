"""Sandboxes that wait for a file: asked for ahead of time, and told ahead of time what they will be asked for."""

from __future__ import annotations

import math

from grader.judge.workers.keeper_client import KeeperClient
from grader.judge.workers.sandbox import Sandbox
from grader.transport.operations import Several


class Standby:
    """At most one sandbox for each worker that has nothing of an answer in it yet."""

    def __init__(self, keeper: KeeperClient, cpu_seconds: float) -> None:
        self._keeper, self._cpu_seconds = keeper, cpu_seconds
        self._waiting: dict[str, Sandbox] = {}

    def ask(self, worker: str) -> bool:
        """Have a sandbox started for a worker, unless there is one. Returns whether that was necessary."""
        if worker in self._waiting or self._keeper.promised(worker):
            return False
        self._keeper.ask(worker, cpu_seconds=self._cpu_seconds)
        return True

    def take(self, worker: str, deadline: float) -> Sandbox:
        """Return a sandbox for a grading that must be over at a time (of the monotonic clock)."""
        sandbox = self._waiting.pop(worker, None)
        if sandbox is not None and sandbox.is_waiting:
            sandbox.begin(deadline)
            return sandbox
        if sandbox is not None:  # it has ended for a reason of its own
            sandbox.discard()
        self.ask(worker)
        return Sandbox(self._keeper, self._keeper.take(worker), deadline)

    def preload(self, worker: str, operations: list[Several]) -> bool:
        """Let the sandbox of a worker unpack what it will be asked for. Returns whether there may be more to do."""
        if worker not in self._waiting:
            sandbox = self._waiting[worker] = Sandbox(self._keeper, self._keeper.take(worker), math.inf)
            for several in operations:
                sandbox.preload(several)
        return self._waiting[worker].attend()

    def close(self) -> None:
        """End what waits."""
        for sandbox in self._waiting.values():
            sandbox.discard()
        self._waiting.clear()
