"""The layers that exist for speed, each with a way to take it away: in a server that only the bench starts.

What is changed here is inherited by the keepers, judges and sandboxes that are forked from that server. Nothing of it
is in the code that grades: there is no switch that could be left off.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from grader.judge import service
from grader.judge.cases.check import Check
from grader.judge.explain.reproduce import MistakeRunner
from grader.judge.runs import batches, plan, runner
from grader.judge.runs.recording import Recording
from grader.judge.workbench import Workbench
from grader.judge.workers.keeper_client import KeeperClient
from grader.judge.workers.sandbox import Sandbox

NOTHING: Final = "nothing"


def without(layer: str) -> None:
    """Take one layer away from this process and from all that are forked from it, and let judges count their work."""
    count_work()
    LAYERS[layer]()


# --- the layers


def _frames() -> None:
    batches.OPERATIONS_TOGETHER = 1


def _preloaded() -> None:
    preload = KeeperClient.preload
    KeeperClient.preload = lambda self, worker, _operations: preload(self, worker, [])
    Workbench._hand_over = lambda _self: None


def _glance() -> None:
    runner._passes = lambda _evidence, _recording, _worker: False


def _plan() -> None:
    Workbench._make = lambda _self: False


def _standby() -> None:
    Workbench._ask_for_sandboxes = Workbench._preload = lambda _self: False


def _remembered_mistakes() -> None:
    def remembered(self: MistakeRunner, _seed: int, recorded: list[Any], *, looked: bool) -> Iterator[Any]:
        return self._done(recorded, looked)

    def passes(_self: MistakeRunner, _seed: int, _case: str, find_out: Callable[[], bool]) -> bool:
        return find_out()

    MistakeRunner.remembered, MistakeRunner.passes = remembered, passes


def _known_results() -> None:
    Check.wanted = Recording.wanted = lambda _self, _index, _carries: None


def _order_of_runs() -> None:
    plan.Plan._choose = lambda _self, _runs: None


LAYERS: Final[dict[str, Callable[[], None]]] = {
    NOTHING: lambda: None,
    "frames of thirty operations": _frames,
    "operations preloaded": _preloaded,
    "acceptance at a glance": _glance,
    "the plan": _plan,
    "standby sandboxes": _standby,
    "remembered mistakes": _remembered_mistakes,
    "known results": _known_results,
    "telling runs first": _order_of_runs,
}
"""What can be taken away, by the name under which `make bench ARGS=layers` shows it."""

# --- what a grading costs


class Work:
    """The processor time of a judge, its keeper and its sandboxes."""

    def __init__(self) -> None:
        self.began = 0.0
        self._judge = self._keeper = self._last = 0
        self._sandboxes: dict[int, int] = {}

    def begin(self) -> None:
        """A grading begins."""
        self.began, self._judge, self._keeper = time.monotonic(), spent(os.getpid()), spent(os.getppid())
        self._sandboxes.clear()

    def takes(self, sandbox: Sandbox) -> Sandbox:
        """Note what a sandbox has done before it got the file."""
        self._sandboxes[sandbox.pid] = spent(sandbox.pid)
        return sandbox

    def document(self) -> dict[str, float]:
        """Return the work up to now, in seconds: ``grading`` since it began, ``whole`` since the last one ended."""
        judge, keeper, now = spent(os.getpid()), spent(os.getppid()), time.monotonic()
        lives = {pid: spent(pid) for pid in self._sandboxes}
        grading = judge - self._judge + keeper - self._keeper + sum(lives.values()) - sum(self._sandboxes.values())
        whole = judge + keeper - self._last + sum(lives.values())
        self._last = judge + keeper
        return {"seconds": now - self.began, "grading": grading / 1e9, "whole": whole / 1e9}


def count_work() -> None:
    """Let judges prepare as far as they can before they listen, and tell of each grading what it has cost."""
    work = Work()
    following, grade, take, document = service.Judge._next, service.Judge._grade, KeeperClient.take, service._document

    def prepared(self: service.Judge) -> Any:
        while self._workbench is not None and self._workbench.prepare_a_little():
            pass
        return following(self)

    def graded(self: service.Judge, request: Any, clock: Any) -> None:
        work.begin()
        grade(self, request, clock)

    service.Judge._next, service.Judge._grade = prepared, graded
    KeeperClient.take = lambda self, worker, deadline, **more: work.takes(take(self, worker, deadline, **more))
    service._document = lambda *given: {**document(*given), "work": work.document()}


def spent(pid: int) -> int:
    """Return the processor time of a process in nanoseconds; 0 where it has ended."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
