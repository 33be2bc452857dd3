"""Sandboxes that wait for a file: one for each worker, never asked for twice, never one that has ended."""

from __future__ import annotations

import math
from typing import Any

import pytest

from grader.judge.workers import standby as module
from grader.judge.workers.standby import Standby


class Keeper:
    """Promises what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._promised: list[str] = []

    def ask(self, worker: str, *, cpu_seconds: float) -> None:
        """Promise a sandbox."""
        assert cpu_seconds == 30.0
        self.asked.append(worker)
        self._promised.append(worker)

    def promised(self, worker: str) -> bool:
        """Whether one was promised."""
        return worker in self._promised

    def take(self, worker: str) -> str:
        """Hand it over."""
        self._promised.remove(worker)
        return worker


class Sandbox:
    """What the judge knows of a sandbox, without one."""

    made: list[Sandbox]

    def __init__(self, _keeper: Keeper, worker: str, deadline: float) -> None:
        self.worker, self.deadline = worker, deadline
        self.is_waiting, self.discarded = True, False
        self.preloaded: list[Any] = []
        self.made.append(self)

    def begin(self, deadline: float) -> None:
        """Serve a grading."""
        self.deadline = deadline

    def preload(self, several: Any) -> None:
        """Be told what will be asked."""
        self.preloaded.append(several)

    def attend(self) -> bool:
        """Whether it still unpacks."""
        return bool(self.preloaded)

    def discard(self) -> None:
        """End."""
        self.discarded = True


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Keeper:
    """A keeper, and sandboxes that are noted."""
    Sandbox.made = []
    monkeypatch.setattr(module, "Sandbox", Sandbox)
    return Keeper()


def test_nobody_is_asked_twice(keeper: Keeper) -> None:
    """A worker that has a sandbox, or the promise of one, needs no other."""
    standby = Standby(keeper, 30.0)
    assert [standby.ask(worker) for worker in ("plain", "plain", "second")] == [True, False, True]
    standby.preload("plain", [])
    assert not standby.ask("plain")
    assert keeper.asked == ["plain", "second"]


def test_what_waits_is_taken(keeper: Keeper) -> None:
    """With what it has unpacked, and with the deadline of its grading from then on."""
    standby = Standby(keeper, 30.0)
    standby.ask("plain")
    assert standby.preload("plain", ["some", "more"])
    assert standby.preload("plain", ["some", "more"])
    waiting = standby.take("plain", 5.0)
    assert Sandbox.made == [waiting]
    assert (waiting.preloaded, waiting.deadline) == (["some", "more"], 5.0)
    assert standby.ask("plain")


def test_it_waits_without_a_deadline(keeper: Keeper) -> None:
    """Nobody knows when a file comes."""
    standby = Standby(keeper, 30.0)
    standby.ask("plain")
    standby.preload("plain", [])
    assert Sandbox.made[0].deadline == math.inf


def test_one_that_has_ended_is_replaced(keeper: Keeper) -> None:
    """It is swept, and the grading gets another one."""
    standby = Standby(keeper, 30.0)
    standby.ask("plain")
    standby.preload("plain", [])
    Sandbox.made[0].is_waiting = False
    taken = standby.take("plain", 5.0)
    assert Sandbox.made == [Sandbox.made[0], taken]
    assert Sandbox.made[0].discarded
    assert keeper.asked == ["plain", "plain"]


def test_a_grading_need_not_have_asked(keeper: Keeper) -> None:
    """What nobody has asked for is asked for now; what was promised is taken."""
    standby = Standby(keeper, 30.0)
    assert standby.take("plain", 5.0).worker == "plain"
    standby.ask("second")
    assert standby.take("second", 5.0).worker == "second"
    assert keeper.asked == ["plain", "second"]


def test_all_that_waits_ends(keeper: Keeper) -> None:
    """Afterwards there is nothing left."""
    standby = Standby(keeper, 30.0)
    for worker in ("plain", "second"):
        standby.ask(worker)
        standby.preload(worker, [])
    standby.close()
    assert [sandbox.discarded for sandbox in Sandbox.made] == [True, True]
    assert standby.ask("plain")
