"""Sandboxes that wait for a file: one for each worker, never asked for twice, never one that has ended."""

from __future__ import annotations

import math
import socket
from collections.abc import Iterator

import pytest

from grader.judge.workers import keeper_client as module
from grader.judge.workers.keeper_client import KeeperClient
from tests.keepers import Keeper, NotedSandbox

SECONDS = 30.0


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Iterator[Keeper]:
    """A keeper, and sandboxes that are noted."""
    NotedSandbox.made = []
    monkeypatch.setattr(module, "Sandbox", NotedSandbox)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        keeper = Keeper(theirs)
        keeper.client = KeeperClient(ours)
        yield keeper


def ask(keeper: Keeper, worker: str) -> bool:
    """Have a sandbox started."""
    return keeper.client.ask(worker, cpu_seconds=SECONDS)


def take(keeper: Keeper, worker: str) -> NotedSandbox:
    """Take one for five seconds."""
    return keeper.client.take(worker, 5.0, cpu_seconds=SECONDS)


def test_nobody_is_asked_twice(keeper: Keeper) -> None:
    """A worker that has a sandbox, or will have one, needs no other."""
    assert [ask(keeper, worker) for worker in ("plain", "plain", "second")] == [True, False, True]
    keeper.client.preload("second", [])  # the first one has come by then
    assert not ask(keeper, "plain")
    assert not ask(keeper, "second")
    assert [(message["device"], message["cpu_seconds"]) for message in keeper.asked] == [(False, 30.0), (True, 30.0)]


def test_what_waits_is_taken(keeper: Keeper) -> None:
    """With what it has unpacked, and with the deadline of its grading from then on."""
    ask(keeper, "plain")
    assert keeper.client.preload("plain", ["some", "more"])
    assert keeper.client.preload("plain", ["some", "more"])
    waiting = take(keeper, "plain")
    assert NotedSandbox.made == [waiting]
    assert (waiting.told, waiting.deadline) == (["some", "more"], 5.0)
    assert ask(keeper, "plain")


def test_it_waits_without_a_deadline(keeper: Keeper) -> None:
    """Nobody knows when a file comes."""
    ask(keeper, "plain")
    keeper.client.preload("plain", [])
    assert NotedSandbox.made[0].deadline == math.inf


def test_one_that_has_ended_is_replaced(keeper: Keeper) -> None:
    """It is swept, and the grading gets another one."""
    ask(keeper, "plain")
    keeper.client.preload("plain", [])
    NotedSandbox.made[0].is_waiting = False
    taken = take(keeper, "plain")
    assert NotedSandbox.made == [NotedSandbox.made[0], taken]
    assert NotedSandbox.made[0].discarded
    assert [sandbox.pid for sandbox in NotedSandbox.made] == [1, 2]


def test_a_grading_need_not_have_asked(keeper: Keeper) -> None:
    """What nobody has asked for is asked for now; what was asked for is taken, whatever came in between."""
    assert take(keeper, "plain").pid == 1
    ask(keeper, "second")
    ask(keeper, "plain")
    assert [take(keeper, "plain").pid, take(keeper, "second").pid] == [3, 2]
    assert len(keeper.asked) == 3


def test_all_that_waits_ends(keeper: Keeper) -> None:
    """Afterwards there is nothing left."""
    for worker in ("plain", "second"):
        ask(keeper, worker)
        keeper.client.preload(worker, [])
    keeper.client.discard_waiting()
    assert [sandbox.discarded for sandbox in NotedSandbox.made] == [True, True]
    assert ask(keeper, "plain")
