"""Sandboxes that wait for a file: asked for ahead of time, and told ahead of time what they will be asked for."""

from __future__ import annotations

import math

from grader.judge.workers.keeper_client import KeeperLine
from grader.judge.workers.sandbox import Sandbox
from grader.transport.operations import Several


class Reserve:
    """At most one sandbox for each lane that has nothing of an answer in it yet."""

    def __init__(self, keeper: KeeperLine, cpu_seconds: float) -> None:
        self._keeper, self._cpu_seconds = keeper, cpu_seconds
        self._waiting: dict[str, Sandbox] = {}

    def ask(self, lane: str) -> bool:
        """Have a sandbox started for a lane, unless there is one. Returns whether that was necessary."""
        if lane in self._waiting or self._keeper.promised(lane):
            return False
        self._keeper.ask(lane, cpu_seconds=self._cpu_seconds)
        return True

    def take(self, lane: str, deadline: float) -> Sandbox:
        """Return a sandbox for a grading that must be over at a time (of the monotonic clock)."""
        sandbox = self._waiting.pop(lane, None)
        if sandbox is not None and sandbox.is_waiting:
            sandbox.begin(deadline)
            return sandbox
        if sandbox is not None:  # it has ended for a reason of its own
            sandbox.discard()
        self.ask(lane)
        return Sandbox(self._keeper, self._keeper.take(lane), deadline)

    def lay_out(self, lane: str, operations: list[Several]) -> bool:
        """Let the sandbox of a lane unpack what it will be asked for. Returns whether there may be more to do."""
        if lane not in self._waiting:
            sandbox = self._waiting[lane] = Sandbox(self._keeper, self._keeper.take(lane), math.inf)
            for several in operations:
                sandbox.keep(several)
        return self._waiting[lane].attend()

    def close(self) -> None:
        """End what waits."""
        for sandbox in self._waiting.values():
            sandbox.discard()
        self._waiting.clear()
