"""Helpers of the keeper and of starting processes: who is below whom, what was left behind, what a child inherits."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from grader.sandbox import limits
from grader.server import keeper, launch
from grader.transport import jsonlines
from tests.waiting import eventually

linux = pytest.mark.skipif(not limits.LINUX, reason="reads /proc")
FAMILY = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
time.sleep(60)
"""


@pytest.fixture
def family():
    """A process with a child of its own."""
    process = subprocess.Popen([sys.executable, "-S", "-c", FAMILY], start_new_session=True)
    eventually(lambda: keeper.descendants(process.pid))
    yield process
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@linux
def test_descendants(family: subprocess.Popen) -> None:
    """Children are direct, descendants are all; a process that is gone has none."""
    assert family.pid in keeper.children(os.getpid())
    (grandchild,) = keeper.children(family.pid)
    assert {family.pid, grandchild} <= set(keeper.descendants(os.getpid()))
    assert grandchild not in keeper.children(os.getpid())
    assert keeper._children_by_scan(family.pid) == [grandchild]
    assert keeper.descendants(2**22 - 1) == []


@linux
def test_a_dead_child_is_still_one() -> None:
    """What waits to be reaped counts: it has to be waited for."""
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    eventually(lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z")
    assert process.pid in keeper.children(os.getpid())
    process.wait()
    assert process.pid not in keeper.children(os.getpid())


def test_stale_scratch(tmp_path: Path) -> None:
    """Folders of keepers that are gone are removed with all that is in them; all others stay."""
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    stale = tmp_path / f"{keeper.SCRATCH_PREFIX}{process.pid}-abc"
    living = tmp_path / f"{keeper.SCRATCH_PREFIX}{os.getpid()}-abc"
    other = [tmp_path / "something-else", tmp_path / f"{keeper.SCRATCH_PREFIX}notes"]
    for folder in (stale, living, *other):
        (folder / "deep").mkdir(parents=True)
    keeper.remove_stale_scratch(str(tmp_path))
    assert sorted(tmp_path.iterdir()) == sorted([living, *other])
    keeper.remove_stale_scratch(str(tmp_path / "nowhere"))


def test_a_bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's environment goes along; one thread each."""
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    environment = launch.bare_environment("/some/where")
    assert "hunter2" not in environment.values()
    assert environment["HOME"] == environment["TMPDIR"] == "/some/where"
    assert environment["OMP_NUM_THREADS"] == "1"
    assert not any(name.startswith("PYTHON") for name in environment)


@linux
def test_memory_of_a_process() -> None:
    """Resident memory is read for living processes and is 0 for others."""
    assert limits.resident_bytes(os.getpid()) > 1 << 20
    assert limits.resident_bytes(2**22 - 1) == 0
    assert limits.threads() >= 1


def test_documents_with_descriptors() -> None:
    """Documents arrive one by one, with the descriptors that were sent along; the end is EOFError."""
    ours, theirs = socket.socketpair()
    reader, writer = os.pipe()
    with ours, theirs:
        jsonlines.send(ours, {"op": "one"}, (writer,))
        jsonlines.send(ours, {"op": "two", "text": "ü" * 2_000})
        os.close(writer)
        first, (copy,) = jsonlines.receive(theirs)
        os.write(copy, b"through the copy")
        os.close(copy)
        assert (first, os.read(reader, 100)) == ({"op": "one"}, b"through the copy")
        second, none = jsonlines.receive(theirs)
        assert (second["op"], len(second["text"]), none) == ("two", 2_000, [])
        ours.close()
        with pytest.raises(EOFError):
            jsonlines.receive(theirs)
    os.close(reader)


def test_half_a_document() -> None:
    """A line that breaks in the middle is an end as well."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(b"\x10\0\0\0{")
        ours.close()
        with pytest.raises(EOFError):
            jsonlines.receive(theirs)
