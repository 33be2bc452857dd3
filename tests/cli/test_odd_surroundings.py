"""Odd homes, odd files in the place of the history, encodings and widths that show little."""

import os
import signal
import sqlite3
import subprocess

import pytest

from grader.cli.hints import MOST_LINES
from grader.schema import MIGRATIONS

PATIENCE = 30


def run(tool, *arguments, **environment):
    """Run a command as a process of its own, which a hang would end; return its exit code and what it wrote."""
    process = tool.process(*arguments, environment={"COLUMNS": "200"} | environment)
    try:
        output, error = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    assert b"Traceback" not in output + error
    return process.returncode, output.decode(errors="replace"), error.decode(errors="replace")


@pytest.mark.parametrize("command", ["list", "hint", "grade", "doctor"])
def test_a_home_of_nobody(tool, command):
    """KATA_HOME=~x without a user x is told in a sentence, and the command does what it can without a history."""
    tool.answer("pass")
    named = [] if command in ("list", "doctor") else ["second"]
    code, output, error = run(tool, command, *named, KATA_HOME="~no-such-user")
    assert code == (3 if command == "doctor" else 0)
    assert "The history cannot be kept in ~no-such-user: there is no such user." in output + error


def test_a_workspace_of_nobody(tool):
    """--workspace ~x is wrong use."""
    said = tool("--workspace", "~no-such-user", "list", code=2).stderr
    assert "is the home of no user of this machine" in " ".join(said.split())


def _fifo(path):
    os.mkfifo(path)


def _device(path):
    path.symlink_to("/dev/zero")


def _loop(path):
    path.symlink_to(path.name)


def _damaged_with_a_pipe_for_a_lock(path):
    path.write_bytes(b"garbage" * 100)
    os.mkfifo(path.with_suffix(".lock"))


@pytest.mark.parametrize("odd", [_fifo, _device, _loop, os.mkdir, _damaged_with_a_pipe_for_a_lock])
def test_an_odd_file_in_place_of_the_history(tool, odd):
    """No command waits for it: a grading shows its verdict, doctor says the rest, what needs a history refuses."""
    tool.home.mkdir()
    odd(tool.home / "history.db")
    tool.answer("pass")
    code, output, error = run(tool, "grade", "second")
    assert (code, "second passed" in output) == (0, True)
    assert "This attempt is not in your history." in error
    assert str(tool.home) in error
    assert run(tool, "status")[0] == 3
    code, output, _error = run(tool, "doctor")
    assert (code, "workspace: " in output) == (3, True)


def test_doctor_with_a_newer_history(tool):
    """It ends with 3, says what to do about it once, and says the rest."""
    tool.home.mkdir()
    with sqlite3.connect(tool.home / "history.db") as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    db.close()
    result = tool("doctor", COLUMNS="400", code=3)
    assert "torch 2.13.0" in result.stdout
    assert "was written by a newer kata" in result.stdout
    assert "Update kata, or set KATA_HOME to another folder." in result.stdout
    assert f"workspace: {tool.workspace}" in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("debug", [False, True])
def test_the_difference_to_a_file_of_very_many_lines(tool, debug):
    """A comparison that would take minutes is refused at once, and nothing is noted."""
    tool("start", "third", *(["--debug", "--seed", "1"] if debug else []))
    tool.answer("x\n" * (MOST_LINES + 1), "third_debug.py" if debug else "third.py")
    more = ["--debug"] if debug else []
    error = tool("solution", "third", "--give-up", "--diff", *more, code=2).stderr
    assert f"has {MOST_LINES + 1} lines; a comparison stops at {MOST_LINES}." in error
    assert "gave up" not in tool("list").stdout


@pytest.mark.parametrize("encoding", ["ascii", "iso8859-1", "big5"])
@pytest.mark.parametrize("command", [["list"], ["--help"], ["nope"]], ids=" ".join)
def test_chinese_where_it_cannot_be_written(tool, encoding, command):
    """A word says so, and the page is English: no question marks."""
    code, output, error = run(tool, *command, PYTHONIOENCODING=encoding, KATA_LANG="zh")
    assert code == (2 if command == ["nope"] else 0)
    assert f"{encoding} has no simplified Chinese, so kata speaks English" in error
    assert "??" not in output + error


def test_chinese_where_it_can(tool):
    """An encoding for Chinese is as good as UTF-8, and a JSON document is in any encoding."""
    process = tool.process("list", environment={"PYTHONIOENCODING": "gbk", "KATA_LANG": "zh"})
    assert "第一题" in process.communicate(timeout=PATIENCE)[0].decode("gbk")
    _code, output, error = run(tool, "list", "--json", PYTHONIOENCODING="ascii", KATA_LANG="zh")
    assert (r"\u7b2c\u4e00\u9898" in output, error) == (True, "")


@pytest.mark.parametrize("columns", ["0", "1", "7"])
@pytest.mark.parametrize("command", ["list", "status", "doctor", "start second", "hint second", "status second"])
def test_widths_that_are_none(tool, columns, command):
    """Where COLUMNS says what cannot be, a page is as narrow as it can be read, and never empty."""
    output = tool(*command.split(), COLUMNS=columns).stdout
    widest = max(map(len, output.splitlines()))
    assert widest > 15, output


@pytest.mark.parametrize(
    ("arguments", "moment"),
    [
        (["grade", "second"], "open"),
        (["grade", "second"], "grade"),
        (["grade", "--file", "workspace/second.py"], "open"),
        (["grade", "--all"], "open"),
        (["grade", "--all"], "grade"),
        (["watch", "second"], "grade"),  # its session is open before the first save is seen
    ],
)
def test_a_killed_command_has_kept_what_it_was_about_to_grade(tool, arguments, moment):
    """Whether kill -9 comes while the server starts or in the grading: the version is there."""
    tool.answer("the version")
    process = tool.process(*arguments, environment={"KATA_TEST_KILL_AT": moment})
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    assert tool.kept() == ["the version"]


MODES = {
    "alone": ["grade", "second"],
    "by its path": ["grade", "workspace/second.py"],
    "file": ["grade", "--file", "workspace/second.py"],
    "all": ["grade", "--all"],
    "jobs": ["grade", "second", "--file", "workspace/second.py", "--jobs", "2"],
    "folder": ["grade", "--file", "workspace"],
}


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_a_source_that_is_not_utf8_fails_the_same_in_every_mode(tool, mode, as_json):
    """It is a failed answer: 1, its line and what to do, an attempt, and a version that comes back byte for byte."""
    data = b"x = 1\ny = '\xe9'\n"
    path = tool.answer("")
    path.write_bytes(data)
    result = tool(*MODES[mode], *(["--json"] if as_json else []), code=1, COLUMNS="200")
    sentence = "second.py:2: the file is not UTF-8 text, here is the byte 0xe9. Save the file as UTF-8 in your editor."
    assert sentence in result.stdout
    assert '"verdict": "failed"' in result.stdout or not as_json
    assert "seed None" not in result.stdout
    assert "failed" in tool("status", "second").stdout
    assert "failed" in tool("restore", "second", "--list").stdout
    for place in (tool.workspace / ".attempts" / "second").iterdir():
        assert place.read_bytes() == data
        place.unlink()
    path.write_text("mine")
    tool("restore", "second")
    assert path.read_bytes() == data


def test_a_source_that_is_not_utf8_elsewhere(tool, tmp_path):
    """It fails in the same way, and is not recorded."""
    path = tmp_path / "second.py"
    path.write_bytes(b"\xff")
    assert "second.py:1: the file is not UTF-8 text" in tool("grade", str(path), code=1, COLUMNS="200").stdout
    assert not tool.workspace.exists()
    assert "Nothing has been begun yet." in tool("status").stdout


def test_a_kept_version_that_is_no_text_comes_back(tool):
    """What `reset` has moved away, `restore` brings back, whatever it is."""
    tool("start", "second")
    path = tool.answer("")
    path.write_bytes(b"\xff\xfe")
    tool("reset", "second")
    tool("restore", "second")
    assert path.read_bytes() == b"\xff\xfe"


@pytest.mark.parametrize("present", ["fail", "mine"])
def test_the_versions_are_listed_whatever_the_present_file_is(tool, present):
    """Also where all of them equal it, which the list shows; it never advises what was just typed."""
    tool("start", "second")
    assert "No earlier version has been kept yet." in tool("restore", "--list").stdout
    tool.answer("fail")
    tool("grade", "second", code=1)
    tool.answer(present)
    page = tool("restore", "second", "--list").stdout
    assert any(line.rstrip().endswith(" present") for line in page.splitlines()) == (present == "fail")
    assert ("--attempt N" in page) == (present == "mine")
    assert "--list" not in page
