"""What may happen to the tool in the middle of its work: nothing is lost and nothing is left behind."""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import subprocess
import time
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest

from grader.sandbox import limits
from tests import waiting

pytestmark = pytest.mark.one_of_many

HANGS = "while True: pass"
CORRECT = "if not hasattr(x, 'dtype'): raise TypeError('no tensor')\nreturn x + x"
PATIENCE = 20.0
eventually = partial(waiting.eventually, seconds=PATIENCE)

linux = pytest.mark.skipif(not limits.LINUX, reason="looks at processes through /proc")


def processes_of(real) -> list[int]:
    """Return what the tool has started and is alive: server, keepers, judges and sandboxes share their variables."""
    mark = os.fsencode(str(real.scratch))
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                command = b" ".join((folder / name).read_bytes() for name in ("cmdline", "environ"))
                if b"-m\0grader" in command:  # the command itself
                    continue
                dead = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "ZX"
            except OSError:
                continue
            if mark in command and not dead:
                found.append(int(folder.name))
    return found


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):  # the end of another one may have ended it
        os.kill(pid, signal.SIGKILL)


def scratch_folders(real) -> list[Path]:
    """Return the scratch folders of sandboxes."""
    return list(real.scratch.glob("kata-sandbox-*"))


def in_the_middle(real) -> subprocess.Popen[str]:
    """Start a grading that does not end by itself soon, and wait until the answer runs."""
    real.write(HANGS)
    process = real.process("grade", "double")
    eventually(lambda: scratch_folders(real))
    time.sleep(0.2)
    assert process.poll() is None
    return process


def assert_nothing_lost_or_left(real, *kept: str) -> None:
    """The answer and every graded version are there; no process, no scratch folder."""
    eventually(lambda: not processes_of(real))
    eventually(lambda: not scratch_folders(real))
    versions = sorted((real.folder / "workspace" / ".attempts" / "double").glob("*.py"))
    assert [path.read_text().split("\n    ", 1)[1].rstrip() for path in versions] == list(kept)
    files = [path.name for path in real.answer.parent.iterdir()]
    assert sorted(files) == [".attempts", "double.py"]


@linux
def test_kill_9_leaves_nothing_behind(real) -> None:
    """A killed tool takes its server, judge and sandboxes with it; the next grading is as good as ever."""
    process = in_the_middle(real)
    assert len(processes_of(real)) > 3
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert_nothing_lost_or_left(real, HANGS)
    real.write("return x + x")
    real("grade", "double", "--case", "core")
    assert json.loads(real("status", "double", "--json").stdout)["attempts"] == 1


@linux
def test_ctrl_c_leaves_nothing_behind(real) -> None:
    """An interrupted tool ends with 130, a sentence and nothing left."""
    process = in_the_middle(real)
    process.send_signal(signal.SIGINT)
    output, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in output + error
    assert error == "Stopped. Your files are as they were.\n"
    assert_nothing_lost_or_left(real, HANGS)


@linux
def test_a_closed_terminal_leaves_nothing_behind(real) -> None:
    """The same when the terminal goes away."""
    process = in_the_middle(real)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=PATIENCE)
    assert_nothing_lost_or_left(real, HANGS)


@linux
def test_everything_killed_at_once(real) -> None:
    """Where no process of a grading survives to sweep, the next grading does."""
    process = in_the_middle(real)
    killed = (process.pid, *processes_of(real))
    for pid in killed:
        _kill(pid)
    process.communicate(timeout=PATIENCE)
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in killed))
    real.write(CORRECT)
    real("grade", "double")
    assert_nothing_lost_or_left(real, HANGS, CORRECT.replace("\n", "\n    "))


@linux
def test_a_server_that_dies_is_not_the_answers_fault(real) -> None:
    """A grading that loses its server, judge and sandboxes ends with a verdict of the grader's own: 3."""
    process = in_the_middle(real)
    for pid in processes_of(real):
        _kill(pid)
    output, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, output + error
    assert "The grader itself failed, not your answer." in output
    assert "Traceback" not in output + error
    assert real.answer.read_text().endswith(HANGS + "\n")


@linux
def test_two_gradings_at_once(real) -> None:
    """Two tools on the same file, workspace and history: two verdicts, two attempts, nothing left."""
    real.write(CORRECT)
    processes = [real.process("grade", "double", "--json") for _ in range(2)]
    for process in processes:
        output, error = process.communicate(timeout=100)
        assert process.returncode == 0, output + error
        assert json.loads(output)["verdict"] == "passed"
        assert error == ""
    assert json.loads(real("status", "double", "--json").stdout)["attempts"] == 2
    eventually(lambda: not processes_of(real))
    assert scratch_folders(real) == []


@linux
def test_one_of_two_is_killed(real) -> None:
    """The end of one grading, however sudden, does not touch another."""
    hanging = in_the_middle(real)
    real.write(CORRECT)
    other = real.process("grade", "double", "--json")
    eventually(lambda: len(scratch_folders(real)) > 1)
    hanging.kill()
    hanging.communicate(timeout=PATIENCE)
    output, error = other.communicate(timeout=100)
    assert other.returncode == 0, output + error
    assert json.loads(output)["verdict"] == "passed"
    eventually(lambda: not processes_of(real))
    eventually(lambda: not scratch_folders(real))


def obeying_permissions() -> dict[str, object]:
    """Return what makes a process of root obey the permissions of files, as one of an ordinary user does."""
    return {"preexec_fn": limits.drop_capabilities} if limits.LINUX else {}


def test_a_read_only_data_folder(real) -> None:
    """The verdict is shown all the same, and the sentence says what is missing and what to do."""
    real.write(CORRECT)
    real.home.mkdir()
    real.home.chmod(0o500)
    result = real("grade", "double", **obeying_permissions())
    assert "✓ double passed" in result.stdout
    assert "This attempt is not in your history." in result.stderr
    assert str(real.home) in result.stderr
    assert "KATA_HOME" in result.stderr
    assert list(real.home.iterdir()) == []
    real.home.chmod(0o700)
    real("grade", "double")
    assert json.loads(real("status", "double", "--json").stdout)["attempts"] == 1


def test_a_read_only_history(real) -> None:
    """What was recorded before can be read, and stays."""
    real("hint", "double")
    for path in real.home.iterdir():
        path.chmod(0o400)
    real.home.chmod(0o500)
    real.write("return x")
    result = real("grade", "double", code=1, **obeying_permissions())
    assert "✗ double" in result.stdout
    assert "read-only" in result.stderr
    status = json.loads(real("status", "double", "--json", **obeying_permissions()).stdout)
    assert (status["hints"], status["attempts"]) == (1, 0)
    real.home.chmod(0o700)


def test_a_read_only_workspace(real) -> None:
    """A version that cannot be kept costs a warning, not the verdict; the history holds it all the same."""
    real.write(CORRECT)
    real.answer.parent.chmod(0o500)
    result = real("grade", "double", **obeying_permissions())
    assert "✓ double passed" in result.stdout
    assert "This version of the file could not be kept." in result.stderr
    real.answer.parent.chmod(0o700)
    listed = json.loads(real("restore", "double", "--list", "--json").stdout)["versions"]
    assert len(listed) == 1


@pytest.mark.parametrize("damage", ["replaced", "cut", "overwritten"])
def test_a_damaged_database(real, damage) -> None:
    """The damaged file is set aside whole and named; the verdict is shown and a new history begun."""
    real.write(CORRECT)
    real("hint", "double")
    path = real.home / "history.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = path.read_bytes()
    half = len(whole) // 2
    path.write_bytes(
        {"replaced": b"no database\n" * 500, "cut": whole[:half], "overwritten": whole[:100] + b"Z" * half}[damage]
    )
    damaged = path.read_bytes()
    result = real("grade", "double")
    assert "✓ double passed" in result.stdout
    (aside,) = real.home.glob("history-damaged-*.db")
    assert aside.read_bytes() == damaged
    assert aside.name in result.stderr
    assert json.loads(real("status", "double", "--json").stdout)["attempts"] == 1


def test_a_disk_that_takes_no_more(real) -> None:
    """Where no file can grow, the verdict is shown, both losses are named, and the answer is as it was."""
    path = real.write(CORRECT)
    text = path.read_text()
    result = real("grade", "double", preexec_fn=_small_files_only)
    assert "✓ double passed" in result.stdout
    assert "This version of the file could not be kept." in result.stderr
    assert "This attempt is not in your history." in result.stderr
    assert path.read_text() == text


def _small_files_only() -> None:
    # Enough for the file with which Python tries a temporary folder, too little for an answer or a page of a database.
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
