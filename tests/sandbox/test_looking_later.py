"""When a sandbox looks after whether something was replaced, and at what."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from grader.sandbox.guest import MOST_UNSEEN, Guest


@pytest.fixture
def channel() -> Iterator[tuple[Guest, socket.socket]]:
    """Yield a guest, and the judge's end of its channel."""
    mine, theirs = socket.socketpair()
    with mine, theirs:
        yield Guest(mine), theirs


def test_it_looks_where_it_would_wait(channel: tuple[Guest, socket.socket]) -> None:
    """Nothing else is asked of it: so it finds what the last operation has replaced."""
    guest, _judge = channel
    assert not guest._may_look_later()


def test_it_looks_later_where_it_is_asked_already(channel: tuple[Guest, socket.socket]) -> None:
    """But not for ever, however much it is asked."""
    guest, judge = channel
    judge.sendall(b"KATA")
    seen = [guest._may_look_later() for _operation in range(2 * MOST_UNSEEN)]
    assert seen == ([True] * (MOST_UNSEEN - 1) + [False]) * 2


def test_it_looks_at_what_works_in_it_alone() -> None:
    """The judge's modules lie in its memory as well, since it was forked: nothing there is run in a sandbox."""
    program = (
        "import grader.judge.service, grader.sandbox.guest\n"
        "from grader.sandbox.tampering import hiding\n"
        "print(*sorted({name.__name__.split('.')[1] for name in hiding.hide(print)}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["language", "probes", "sandbox", "text", "transport"]
