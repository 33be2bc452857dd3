"""Hostile answers: none passes, hangs, crashes the tool, loses a file or leaves a process; each ends in a sentence."""

from __future__ import annotations

import os
import re
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.client import standing
from grader.client.session import Request, Session
from grader.sandbox import landlock, limits
from tests.waiting import eventually

pytestmark = [pytest.mark.grades, pytest.mark.xdist_group("hostile")]

HOSTILE = sorted((Path(__file__).parent / "hostile").glob("*.py"))
NAMES = [path.stem for path in HOSTILE]
MARK = "@WORKSPACE@"
CASES = "core/one"
NEEDS_CONFINEMENT = {
    *(
        "fork_bomb",
        "subprocess_call",
        "daemon",
        "kill_parent",
        "kill_everyone",
        "delete_workspace",
        "rewrite_workspace",
    ),
    *("chmod_workspace", "write_scratch", "network", "memory_tensor", "memory_lists", "memory_mmap"),
    *("memory_grows_by_numbers", "datagram", "datagram_over_the_line"),
    *("read_solutions", "read_solutions_through_torch", "read_git_history", "read_parent_memory", "read_environment"),
}
full_sandbox = pytest.mark.skipif(not (limits.LINUX and landlock.abi()), reason="needs a kernel with Landlock")


def processes_with(text: str) -> list[str]:
    """Return the arguments and variables of running processes that contain a text; forked ones share their server's.

    The processes of a grading have its temporary folder in the variables that they were started with.
    """
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                given = b" ".join((folder / name).read_bytes() for name in ("cmdline", "environ"))
            except OSError:
                continue
            line = given.replace(b"\0", b" ").decode(errors="replace")
            if text in line:
                found.append(f"{folder.name} {line}")
    return found


def gone(left: Callable[[], list[str]]) -> None:
    """Wait until nothing is left."""
    deadline = time.monotonic() + 20
    while found := left():
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


@pytest.fixture(scope="module")
def scratch_home(tmp_path_factory: pytest.TempPathFactory):
    """A temporary folder of its own, so that what is left behind can be seen; nothing of this file may outlive it."""
    home, before = tmp_path_factory.mktemp("scratch"), tempfile.tempdir
    tempfile.tempdir = str(home)
    yield home
    for _path, server in standing.servers():
        assert standing.ask(server, "stop") is not None
    gone(lambda: processes_with(str(home)))
    assert list(home.glob("kata-sandbox-*")) == []
    tempfile.tempdir = before


@pytest.fixture(scope="module")
def confined(scratch_home: Path):
    """A server with every layer of the sandbox."""
    with Session(call_seconds=1.0) as session:
        yield session


@pytest.fixture(scope="module")
def bare(scratch_home: Path):
    """A server whose sandboxes are processes and nothing else, as on a system without Landlock, seccomp and limits."""
    with Session(call_seconds=1.0, layers=()) as session:
        yield session


@pytest.fixture(scope="module")
def fresh(scratch_home: Path):
    """A server that starts fresh interpreters instead of forking."""
    with Session(call_seconds=4.0, model="fresh") as session:  # each imports for itself, torch and perhaps more
        yield session


@pytest.fixture
def staying(scratch_home: Path, monkeypatch: pytest.MonkeyPatch):
    """A session with the server that an earlier one has left, as each `kata grade` has it."""
    monkeypatch.delenv("KATA_SERVER", raising=False)
    with Session(call_seconds=1.0, stays=True, keep=False) as session:
        yield session


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A learner's folder."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "masked_softmax.py").write_text("# a week of work\n")
    return folder


def grade(session: Session, name: str, workspace: Path):
    source = (Path(__file__).parent / "hostile" / f"{name}.py").read_text().replace(MARK, str(workspace))
    head = dict(line[2:].split(": ", 1) for line in source.splitlines()[:3] if line.startswith("# "))
    case = head.get("case", CASES)
    report = session.grade(Request(head.get("kata", "masked-softmax"), source, "masked_softmax.py", case=case))
    return report, head


def check_report(report, head, workspace: Path) -> None:
    failing = [case for case in report["cases"] if case["outcome"] != "passed"]
    said = [case["message"] for case in failing] or [report["message"]]
    assert report["verdict"] == "failed", report["message"]
    assert len(report["cases"]) > 1 or report["message"], "the other cases still run, or the file does not load"
    assert any(re.search(head["says"], message) for message in said), said
    unasked = [case for case in failing if case["outcome"] == "skipped" and case["kind"] == "unasked"]
    outcomes = [case["outcome"] for case in failing if case not in unasked]
    assert set(outcomes) <= set(head["outcome"].split()), outcomes
    assert outcomes or report["message"], "what is skipped for a failure needs the failure"
    assert (workspace / "masked_softmax.py").read_text() == "# a week of work\n"
    assert [path.name for path in workspace.iterdir()] == ["masked_softmax.py"]
    for text in (*said, report["printed"], *(case["printed"] for case in failing)):
        assert not re.search(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202e]", text)


@full_sandbox
@pytest.mark.one_of_many(of=4)
@pytest.mark.parametrize("name", NAMES)
def test_confined(name: str, confined: Session, workspace: Path) -> None:
    """With every layer on, each hostile answer fails with a sentence that names what it did."""
    report, head = grade(confined, name, workspace)
    check_report(report, head, workspace)
    assert report["sandbox_gaps"] == []


@pytest.mark.one_of_many
@pytest.mark.parametrize("name", sorted(set(NAMES) - NEEDS_CONFINEMENT))
def test_with_process_isolation_alone(name: str, bare: Session, workspace: Path) -> None:
    """Separate processes and a strict protocol are enough against everything that lies, crashes or hangs."""
    report, head = grade(bare, name, workspace)
    check_report(report, head, workspace)
    assert report["sandbox"] == ["process"]
    assert report["sandbox_gaps"]


def test_a_long_answer_in_fresh_processes(fresh: Session) -> None:
    """An answer of 900 KB is graded where each process is a fresh one, and stands in no process's arguments."""
    from grader import catalog

    kata = catalog.find("masked-softmax")
    mark = "a mark of its own in a long answer"
    source = kata.reference() + "".join(f"# {number} {mark}\n" for number in range(22_000))
    seen: list[str] = []
    report = fresh.grade(
        Request(kata.id, source, kata.filename, case="core/"), lambda _event: seen.extend(processes_with(mark))
    )
    assert len(source) > 900_000
    assert report["verdict"] == "passed"
    assert seen == []


@pytest.mark.one_of_many
@pytest.mark.parametrize(
    "name", ["loop_python", "os_exit", "segfault", "forged_reply", "patched_comparisons", "pytest_skip"]
)
def test_in_fresh_processes(name: str, fresh: Session, workspace: Path) -> None:
    """Fresh interpreters serve the same protocol where fork is not to be trusted."""
    report, head = grade(fresh, name, workspace)
    check_report(report, head, workspace)


@full_sandbox
@pytest.mark.one_of_many(of=4)
@pytest.mark.parametrize(
    "name",
    [
        *("loop_python", "os_exit", "segfault", "forged_reply", "patched_comparisons", "daemon", "kill_everyone"),
        *("read_solutions", "read_parent_memory", "network", "rewrite_workspace", "memory_tensor"),
    ],
)
def test_through_a_server_that_stays(name: str, staying: Session, workspace: Path) -> None:
    """A server that serves one command after the other holds what one for a single command holds."""
    report, head = grade(staying, name, workspace)
    check_report(report, head, workspace)
    assert report["sandbox_gaps"] == []


@full_sandbox
@pytest.mark.parametrize("name", ["datagram", "datagram_over_the_line"])
def test_no_datagram_leaves_the_sandbox(name: str, confined: Session) -> None:
    """A unix socket that listens outside, as the system's log does, hears nothing of an answer."""
    source = (Path(__file__).parent / "hostile" / f"{name}.py").read_text()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind(f"{folder}/log")
        log.setblocking(False)
        source = source.replace("@LOG@", f"{folder}/log")
        report = confined.grade(Request("masked-softmax", source, "masked_softmax.py", case=CASES))
        with pytest.raises(BlockingIOError):
            log.recv(100)
    assert report["verdict"] == "failed"


def test_a_daemon_without_seccomp_is_swept(
    scratch_home: Path, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where processes can be started, an orphan in a session of its own is found and killed when the grading ends."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Session(call_seconds=1.5, layers=()) as session:
        eventually(lambda: processes_with(str(tmp_path)))  # else nothing would be gone below
        grade(session, "daemon", workspace)
    gone(lambda: processes_with(str(tmp_path)))


@full_sandbox
def test_the_good_answer_passes_between_the_hostile_ones(confined: Session, workspace: Path) -> None:
    """The server that has seen all this still grades an honest answer."""
    from grader import catalog

    report = confined.grade(Request("masked-softmax", catalog.find("masked-softmax").reference(), "masked_softmax.py"))
    assert report["verdict"] == "passed"
