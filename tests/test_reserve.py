"""Sandboxes that wait for the next answer: they know ahead what they will be asked for, and may end meanwhile."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from grader import catalog
from grader.client.session import Request, Session
from grader.judge.workbench import MOST_WITHOUT_PLAN
from grader.sandbox import limits
from grader.server.keeper import children
from tests.waiting import eventually

KATA = catalog.find("masks")
PATIENCE = 30.0

pytestmark = [
    pytest.mark.grades,
    pytest.mark.xdist_group("reserve"),
    pytest.mark.skipif(not limits.LINUX, reason="reads /proc"),
]


@pytest.fixture(scope="module")
def served():
    """A session whose judge makes plans, and the process id of its server."""
    others = set(children(os.getpid()))
    with Session(call_seconds=2.0) as session:
        for _grading in range(MOST_WITHOUT_PLAN + 1):
            session.grade(Request(KATA.id, KATA.reference(), KATA.filename))
        (server,) = set(children(os.getpid())) - others
        yield session, server


def waiting(server: int) -> list[int]:
    """Return the sandboxes that wait, once both are there and nobody works any more."""
    (keeper,) = children(server)

    def at_rest() -> list[int]:
        before = {pid: seconds_of(pid) for pid in children(keeper)}
        time.sleep(0.5)
        after = {pid: seconds_of(pid) for pid in children(keeper)}
        return sorted(after)[1:] if len(after) == 3 and before == after else []  # the judge was there before them

    return eventually(at_rest, PATIENCE)


def seconds_of(pid: int) -> tuple[str, ...]:
    """Return the processor time that a process has used."""
    return tuple(stat_of(pid)[11:13])


def stat_of(pid: int) -> list[str]:
    """Return what stands in /proc behind the name of a process: its state first, "X" where it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return ["X"]


def await_end(pids: list[int]) -> None:
    """Wait until these processes have ended."""
    eventually(lambda: all(stat_of(pid)[0] in "XZ" for pid in pids), PATIENCE)


def test_what_waits_may_end(served: tuple[Session, int]) -> None:
    """Who killed a sandbox before there was a file in it was not the file: another one takes its place."""
    session, server = served
    for victims in (slice(0, 1), slice(1, 2), slice(0, 2)):
        pids = waiting(server)[victims]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        await_end(pids)
        report = session.grade(Request(KATA.id, KATA.reference(), KATA.filename))
        assert report["verdict"] == "passed", report["message"]


def test_what_waits_is_used(served: tuple[Session, int]) -> None:
    """The next answer goes to the processes that waited for it, and those that wait then are others."""
    session, server = served
    pids = waiting(server)
    source = "import os\n\nprint(os.getpid(), os.getpgid(0))\n" + KATA.reference()
    report = session.grade(Request(KATA.id, source, KATA.filename))
    assert report["verdict"] == "passed"
    assert {int(pid) for pid in report["printed"].split()} <= set(pids)
    assert not set(pids) & set(waiting(server))


def test_another_kata(served: tuple[Session, int]) -> None:
    """What waits for one kata is of no use to another, and ends."""
    session, server = served
    pids = waiting(server)
    other = catalog.find("alibi")
    assert session.grade(Request(other.id, other.reference(), other.filename))["verdict"] == "passed"
    assert session.grade(Request(KATA.id, KATA.reference(), KATA.filename))["verdict"] == "passed"
    session.close()
    await_end(pids)
