"""The server that stays between gradings: found, replaced, stopped, and never in the way of a verdict."""

from __future__ import annotations

import json
import os
import signal
import socket
import tempfile
import time
from pathlib import Path

import pytest

from grader.client import standing
from grader.sandbox import limits
from tests.test_interruptions import eventually, processes_of, scratch_folders

CORRECT = "if not hasattr(x, 'dtype'): raise TypeError('no tensor')\nreturn x + x"
STAYS = {"environment": {"KATA_SERVER": "on"}}

pytestmark = pytest.mark.skipif(not limits.LINUX, reason="looks at processes through /proc")


@pytest.fixture
def short():
    """A folder with a short name: the name of a socket has room for a hundred characters."""
    with tempfile.TemporaryDirectory(prefix="kata-test-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def tool(real, short: Path):
    """The tool with servers that stay, which end with the test."""
    tool = type(real)(real.python, short)
    tool.scratch.mkdir()
    tool.write(CORRECT)
    yield tool
    tool("server", "stop")
    eventually(lambda: not processes_of(tool))


def servers(tool) -> list[dict]:
    """Return the servers that run."""
    return json.loads(tool("server", "status", "--json").stdout)["servers"]


def grade(tool, code: int = 0) -> None:
    """Grade the answer with a server that stays."""
    tool("grade", "double", "--case", "core", code=code, **STAYS)


def test_the_second_grading_finds_the_server_of_the_first(tool) -> None:
    """One process serves both, and has a judge prepared for the kata."""
    grade(tool)
    (first,) = servers(tool)
    grade(tool)
    (second,) = servers(tool)
    assert first["pid"] == second["pid"]
    assert (first["gradings"], second["gradings"]) == (1, 2)
    assert eventually(lambda: servers(tool)[0]["waiting_for"] == "double")
    tool.write("return x")
    grade(tool, code=1)


def test_what_it_says(tool) -> None:
    """Status and stop tell a person what there is."""
    assert tool("server", "status").stdout == "No server is running; KATA_SERVER is off.\n"
    assert tool("server", "stop").stdout == "No server was running.\n"
    grade(tool)
    assert "1 grading so far" in tool("server", "status").stdout
    assert tool("server", "stop").stdout == "1 server has ended.\n"
    assert eventually(lambda: servers(tool) == [])


@pytest.mark.one_of_many(of=4)
def test_no_server_where_none_is_wanted(tool) -> None:
    """KATA_SERVER=off, and a kata that is being debugged, leave nothing running."""
    tool("grade", "double", "--case", "core", environment={"KATA_SERVER": "off"})
    assert servers(tool) == []
    assert eventually(lambda: not processes_of(tool))


def test_stopping_ends_everything(tool) -> None:
    """Server, prepared judge, sandboxes and scratch folders go, and so does the socket."""
    grade(tool)
    assert eventually(lambda: servers(tool)[0]["waiting_for"])
    tool("server", "stop")
    assert eventually(lambda: not processes_of(tool))
    assert scratch_folders(tool) == []
    assert list(Path(tool.scratch).glob("kata-*/*.socket")) == []


@pytest.mark.one_of_many
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_server_that_is_dead_or_stuck_is_in_nobodys_way(tool, number: int, monkeypatch) -> None:
    """The next grading does without it."""
    del monkeypatch
    grade(tool)
    pid = servers(tool)[0]["pid"]
    os.kill(pid, number)
    began = time.monotonic()
    grade(tool)
    assert time.monotonic() - began < 2 * standing.START_SECONDS
    if number == signal.SIGSTOP:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.one_of_many(of=4)
def test_a_command_that_is_killed_takes_its_grading_along(tool) -> None:
    """The server stays, the judge and the sandboxes of that grading do not."""
    grade(tool)
    assert eventually(lambda: servers(tool)[0]["waiting_for"])
    idle = len(processes_of(tool))
    tool.write("while True: pass")
    process = tool.process("grade", "double", **STAYS)
    assert eventually(lambda: servers(tool)[0]["gradings"] == 2)  # it has begun
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    assert eventually(lambda: len(processes_of(tool)) <= idle)
    tool.write(CORRECT)
    grade(tool)
    assert servers(tool)[0]["gradings"] == 3


@pytest.mark.one_of_many(of=4)
def test_a_kata_that_has_changed_is_read_again(tool) -> None:
    """A judge that has prepared for the old cases is not asked."""
    grade(tool)
    assert eventually(lambda: servers(tool)[0]["waiting_for"])
    time.sleep(1.0)
    (cases,) = tool.python.parent.parent.glob("lib/*/site-packages/grader/bundled/solutions/double/cases.py")
    text = cases.read_text()
    try:
        cases.write_text(text.replace("def test_", "def test_new_", 1))
        report = json.loads(tool("grade", "double", "--json", **STAYS).stdout)
        assert any("new_" in case["id"] for case in report["cases"])
    finally:
        cases.write_text(text)


@pytest.mark.one_of_many(of=4)
def test_a_folder_that_others_may_enter_is_not_used(tool) -> None:
    """Then there is no server, and the grading does without."""
    folder = Path(tool.scratch) / f"kata-{os.getuid()}"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    grade(tool)
    assert list(folder.iterdir()) == []


@pytest.mark.one_of_many(of=4)
def test_two_commands_at_once_start_one_server(tool) -> None:
    """They wait for each other only until one of them listens."""
    both = [tool.process("grade", "double", "--case", "core", **STAYS) for _number in range(2)]
    for process in both:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert len(servers(tool)) == 1


def test_a_socket_without_a_server_is_replaced(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a killed server leaves behind is no server."""
    monkeypatch.setattr("tempfile.tempdir", str(short))
    started, listening = [], []

    def spawn(settings: dict, fds: dict[str, int]) -> None:
        started.append(settings["idle_seconds"])
        listening.append(os.dup(fds["listener"]))

    path = standing.address({})
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    assert path.is_socket()
    with standing.door({}, spawn) or pytest.fail("no door"):
        pass
    assert started == [standing.IDLE_SECONDS]
    os.close(listening[0])
