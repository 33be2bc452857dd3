"""Operations that sandboxes have before they are asked for: told to the keeper once, asked for by number."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from grader.judge.workers import keeper_client
from grader.judge.workers.keeper_client import DEVICE_WORKER, KeeperClient
from grader.sandbox import preloaded
from grader.transport.operations import Message, Several, frame_of_preloaded
from grader.transport.wire import Packer, parse_frame
from tests.keepers import Keeper, NotedSandbox


def operation(value: float) -> Message:
    """A call with one tensor."""
    packer = Packer()
    trees = {"args": packer.pack((torch.full((2, 3), value),)), "kwargs": packer.pack({})}
    return Message({"op": "call", "entry": "f", **trees}, packer.tensors)


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a line, at which no sandbox is."""
    NotedSandbox.made = []
    monkeypatch.setattr(keeper_client, "Sandbox", NotedSandbox)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def taken(line: KeeperClient) -> NotedSandbox:
    """Ask for a sandbox and take it."""
    return line.take(DEVICE_WORKER, 1.0, cpu_seconds=1)


def asked(several: Several, numbers: dict[Message, int]) -> Any:
    """Return the numbers that a frame asks for; None where not all of them were handed over."""
    if not all(message in numbers for message in several):
        return None
    return parse_frame(frame_of_preloaded([numbers[message] for message in several], "nonce"))[0]["preloaded"]


def test_what_a_sandbox_has_depends_on_when_it_was_asked_for(ends: tuple[socket.socket, socket.socket]) -> None:
    """What is handed over counts from the next sandbox on, and new operations take the place of the old ones."""
    line, _keeper = KeeperClient(ends[0]), Keeper(ends[1])
    one, two, three = (operation(value) for value in (1.0, 2.0, 3.0))
    assert taken(line).preloaded == {}
    line.preload_all([(one,), (two,)])
    line.ask(DEVICE_WORKER, cpu_seconds=1)
    line.preload_all([(three,)])
    first, second = taken(line), taken(line)
    assert asked((two, one), first.preloaded) == [1, 0]
    assert asked((three,), first.preloaded) is None
    assert asked((one, three), second.preloaded) is None
    assert asked((three,), second.preloaded) == [2]


def test_a_sandbox_that_was_not_forked_has_nothing(ends: tuple[socket.socket, socket.socket]) -> None:
    """Where each sandbox is a fresh interpreter, all is sent as if nothing had been handed over."""
    line, _keeper = KeeperClient(ends[0]), Keeper(ends[1], forks=False)
    line.preload_all([(operation(1.0),)])
    assert taken(line).preloaded == {}


def test_what_is_handed_over_is_unpacked(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the numbers of the line, with the arguments of each operation ready."""
    monkeypatch.setattr(preloaded, "INHERITED", {})
    line, keeper = KeeperClient(ends[0]), Keeper(ends[1])
    operations = [operation(float(value)) for value in range(5)]
    line.preload_all([tuple(operations[:2]), tuple(operations[2:])])
    numbers = taken(line).preloaded
    for frame in keeper.frames:
        preloaded.take_in(frame)
    for value, message in enumerate(operations):
        _header, _tensors, given = preloaded.INHERITED[numbers[message]]
        assert given is not None
        assert torch.equal(given[0][0], torch.full((2, 3), float(value)))
