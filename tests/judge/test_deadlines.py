"""Whose fault it is that a sandbox is not ready: the answer's where the time is over, the grader's where it is not."""

from __future__ import annotations

from typing import Any

import pytest

from grader import catalog
from grader.judge.failure import Failure
from grader.judge.lanes import Answer, Lane
from grader.sandbox.keeper_line import LANES
from grader.sandbox.tickets import GradingTimeout, SandboxEnded, Ticket

LOADED: dict[str, Any] = {"kind": "loaded"}


class FakeSandbox:
    """A sandbox whose replies are known."""

    def __init__(self, *outcomes: Any, confined: bool = True) -> None:
        self.outcomes = list(outcomes)
        self.confined, self.alive = confined, True
        self.layers = self.gaps = []

    def submit(self, *_asked: Any) -> Ticket:
        """Take any operation."""
        return Ticket(self, "", 1.0)  # type: ignore[arg-type]

    def wait(self, ticket: Ticket) -> Any:
        """Return the next reply, or raise it."""
        del ticket
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome, {}

    def discard(self) -> None:
        """End."""
        self.alive = False


class FakeReserve:
    """Hands out sandboxes in order."""

    def __init__(self, *sandboxes: FakeSandbox) -> None:
        self.sandboxes = list(sandboxes)

    def ask(self, lane: str) -> bool:
        """Start nothing."""
        return bool(lane)

    def take(self, lane: str, deadline: float) -> FakeSandbox:
        """Return the next one."""
        del lane, deadline
        return self.sandboxes.pop(0)


def _lane_with(*sandboxes: FakeSandbox) -> tuple[Answer, Lane]:
    answer = Answer(catalog.find("masked-softmax"), "", "answer.py", FakeReserve(*sandboxes), LANES)  # type: ignore[arg-type]
    return answer, answer.lane("core")


def _call(lane: Lane) -> Any:
    return lane.wait(lane.submit({"op": "call"}, {}))


def test_time_that_is_over_before_the_next_sandbox_is_ready_is_the_answers() -> None:
    """An answer that has used up its time fails with that, although a further sandbox never came to be ready."""
    answer, lane = _lane_with(FakeSandbox(GradingTimeout(), confined=False))
    with pytest.raises(Failure, match="for the whole grading are over") as caught:
        _call(lane)
    assert caught.value.outcome == "timeout"
    assert answer.load_failure is None  # nothing is known about the file


def test_a_sandbox_that_ends_before_it_is_ready_is_the_graders() -> None:
    """Nothing of the answer runs before a sandbox is ready: no failure of a case may come of it."""
    _answer, lane = _lane_with(FakeSandbox(SandboxEnded("crashed", "gone"), confined=False))
    with pytest.raises(RuntimeError, match="the sandbox did not start"):
        _call(lane)


def test_answers_that_use_up_the_memory_are_given_up() -> None:
    """Each call that runs out of memory ends its sandbox, and counts as one that did."""
    bomb: dict[str, Any] = {"kind": "memory", "type": "MemoryError"}
    answer, lane = _lane_with(*(FakeSandbox(LOADED, bomb) for _ in range(12)))
    for _ in range(12):
        assert not answer.is_hopeless
        assert _call(lane)[0] == bomb
    assert answer.is_hopeless
