"""Whose fault it is that a sandbox is not ready: the answer's where the time is over, the grader's where it is not."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from typing import Any

import pytest

from grader import catalog
from grader.judge.failure import Failure, GradingTimeout, SandboxEnded
from grader.judge.workers.answer import Answer, Worker
from grader.judge.workers.keeper_client import WORKERS
from grader.judge.workers.pending import Pending
from grader.judge.workers.sandbox import GRACE_SECONDS, Sandbox
from grader.transport.operations import Message
from grader.transport.wire import frame

LOADED: dict[str, Any] = {"kind": "loaded", "missing": [], "found": []}


class FakeSandbox:
    """A sandbox whose replies are known."""

    def __init__(self, *outcomes: Any, confined: bool = True) -> None:
        self.outcomes = list(outcomes)
        self.confined, self.alive = confined, True
        self.layers = self.gaps = []

    def submit(self, *_asked: Any) -> Pending:
        """Take any operation."""
        return Pending(self, "", 1.0)  # type: ignore[arg-type]

    def wait(self, operation: Pending) -> Any:
        """Return the next reply, or raise it."""
        del operation
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome, {}

    def discard(self) -> None:
        """End."""
        self.alive = False


class FakeKeeperClient:
    """Hands out sandboxes in order."""

    def __init__(self, *sandboxes: FakeSandbox) -> None:
        self.sandboxes = list(sandboxes)

    def ask(self, worker: str, *, cpu_seconds: float) -> bool:
        """Start nothing."""
        return bool(worker and cpu_seconds)

    def take(self, worker: str, deadline: float, *, cpu_seconds: float) -> FakeSandbox:
        """Return the next one."""
        del worker, deadline, cpu_seconds
        return self.sandboxes.pop(0)


def _worker_with(*sandboxes: FakeSandbox) -> tuple[Answer, Worker]:
    keeper = FakeKeeperClient(*sandboxes)
    answer = Answer(catalog.find("masked-softmax"), "", "answer.py", keeper, WORKERS)  # type: ignore[arg-type]
    return answer, answer.worker("core")


def _call(worker: Worker) -> Any:
    return worker.wait(worker.submit({"op": "call"}, {}))


def test_time_that_is_over_before_the_next_sandbox_is_ready_is_the_answers() -> None:
    """An answer that has used up its time fails with that, although a further sandbox never came to be ready."""
    answer, worker = _worker_with(FakeSandbox(GradingTimeout(), confined=False))
    with pytest.raises(Failure, match="for the whole grading are over") as caught:
        _call(worker)
    assert caught.value.outcome == "timeout"
    assert answer.load_failure is None  # nothing is known about the file


def test_a_sandbox_that_ends_before_it_is_ready_is_the_graders() -> None:
    """Nothing of the answer runs before a sandbox is ready: no failure of a case may come of it."""
    _answer, worker = _worker_with(FakeSandbox(SandboxEnded("crashed", "gone"), confined=False))
    with pytest.raises(RuntimeError, match="the sandbox did not start"):
        _call(worker)


def test_answers_that_use_up_the_memory_are_given_up() -> None:
    """Each call that runs out of memory ends its sandbox, and counts as one that did."""
    bomb: dict[str, Any] = {"kind": "memory", "type": "MemoryError"}
    answer, worker = _worker_with(*(FakeSandbox(LOADED, bomb) for _ in range(12)))
    for _ in range(12):
        assert not answer.is_hopeless
        assert _call(worker)[0] == bomb
    assert answer.is_hopeless


class FakeKeeper:
    """Reaps nobody."""

    def retire(self, pid: int) -> None:
        """Know no status."""

    def discard(self, pid: int) -> None:
        """Let the test end the process."""


def test_what_was_answered_while_nobody_looked_is_not_late() -> None:
    """The judge waits for one sandbox at a time: what another said meanwhile came in time."""
    judge, guest = socket.socketpair()
    (diagnostics, _written), (output, _printed) = os.pipe(), os.pipe()
    with guest, subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        fds = [judge.detach(), diagnostics, output]
        sandbox = Sandbox(FakeKeeper(), process.pid, fds, {}, time.monotonic() + 60)
        guest.sendall(frame({"kind": "ready", "nonce": "", "layers": [], "gaps": []}))
        sandbox.wait_ready()
        first, second = (sandbox.submit(Message({"op": "call"}), 0.1) for _ in range(2))
        sandbox.flush()
        guest.sendall(frame({"kind": "result", "nonce": first.nonce}))
        time.sleep(2 * GRACE_SECONDS)
        assert sandbox.wait(first)[0]["kind"] == "result"
        with pytest.raises(SandboxEnded) as caught:
            sandbox.wait(second)
        assert caught.value.ending == "timeout"
        process.wait()
