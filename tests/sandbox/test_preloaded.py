"""Operations that sandboxes have before they are asked for: told to the keeper once, asked for by number."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from grader.judge.workers.keeper_client import DEVICE_WORKER, KeeperClient, Promised
from grader.sandbox import preloaded
from grader.transport import jsonlines
from grader.transport.operations import Message, Several
from grader.transport.wire import Packer, parse_frame


def operation(value: float) -> Message:
    """A call with one tensor."""
    packer = Packer()
    trees = {"args": packer.pack((torch.full((2, 3), value),)), "kwargs": packer.pack({})}
    return Message({"op": "call", "entry": "f", **trees}, packer.tensors)


class Keeper:
    """The other end of a line: keeps and promises what a real one would."""

    def __init__(self, end: socket.socket, *, forks: bool = True) -> None:
        self._end, self._forks = end, forks
        self.frames: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                message, _ = jsonlines.receive(self._end)
            except (EOFError, OSError):
                return
            if message["op"] == "preload":
                self.frames = [jsonlines.exactly(self._end, size) for size in message["sizes"]]
            else:
                ends = [os.open(os.devnull, os.O_RDONLY) for _ in range(3)]
                jsonlines.send(self._end, {"pid": 1, "inherits": self._forks}, tuple(ends))
                for end in ends:
                    os.close(end)


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a line."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def promised(line: KeeperClient) -> Promised:
    """Ask for a sandbox and take it."""
    line.ask(DEVICE_WORKER, cpu_seconds=1)
    found = line.take(DEVICE_WORKER)
    for fd in found.fds:
        os.close(fd)
    return found


def asked(several: Several, numbers: dict[Message, int]) -> Any:
    """Return the numbers that a frame asks for; None where it cannot."""
    frame = several.frame_of_preloaded("nonce", numbers)
    return None if frame is None else parse_frame(frame)[0]["preloaded"]


def test_what_a_sandbox_has_depends_on_when_it_was_asked_for(ends: tuple[socket.socket, socket.socket]) -> None:
    """What is handed over counts from the next sandbox on, and new operations take the place of the old ones."""
    line, _keeper = KeeperClient(ends[0]), Keeper(ends[1])
    one, two, three = (operation(value) for value in (1.0, 2.0, 3.0))
    assert promised(line).preloaded == {}
    line.preload([Several([one]), Several([two])])
    line.ask(DEVICE_WORKER, cpu_seconds=1)
    line.preload([Several([three])])
    first, second = line.take(DEVICE_WORKER), promised(line)
    for fd in first.fds:
        os.close(fd)
    assert asked(Several([two, one]), first.preloaded) == [1, 0]
    assert asked(Several([three]), first.preloaded) is None
    assert asked(Several([one, three]), second.preloaded) is None
    assert asked(Several([three]), second.preloaded) == [2]


def test_a_sandbox_that_was_not_forked_has_nothing(ends: tuple[socket.socket, socket.socket]) -> None:
    """Where each sandbox is a fresh interpreter, all is sent as if nothing had been handed over."""
    line, _keeper = KeeperClient(ends[0]), Keeper(ends[1], forks=False)
    line.preload([Several([operation(1.0)])])
    assert promised(line).preloaded == {}


def test_what_is_handed_over_is_unpacked(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the numbers of the line, with the arguments of each operation ready."""
    monkeypatch.setattr(preloaded, "INHERITED", {})
    line, keeper = KeeperClient(ends[0]), Keeper(ends[1])
    operations = [operation(float(value)) for value in range(5)]
    line.preload([Several(operations[:2]), Several(operations[2:])])
    numbers = promised(line).preloaded
    for frame in keeper.frames:
        preloaded.take_in(frame)
    for value, message in enumerate(operations):
        _header, _tensors, given = preloaded.INHERITED[numbers[message]]
        assert given is not None
        assert torch.equal(given[0][0], torch.full((2, 3), float(value)))
