"""grade and repro: verdicts, exit codes, JSON, and everything that may go wrong around a grading."""

import errno
import json
import os
import pty
import signal
import sqlite3
import time
from pathlib import Path

from grader import workspace
from grader.schema import MIGRATIONS


def test_a_pass_ends_with_0_and_the_next_kata(tool):
    """A pass is short and says what is next."""
    tool.answer("pass")
    output = tool("grade", "second").stdout
    assert "✓ second passed: 2 cases in 0.21 s" in output
    assert "→ `kata start third`: Third, 15 min" in output


def test_a_failure_ends_with_1_and_says_why(tool):
    """The mistake with its line, then the nudge, then a case as evidence."""
    tool.answer("fail")
    output = tool("grade", "second", code=1).stdout
    facts = [
        "✗ second: 1 of 3 cases pass",
        "✓ core  ✗ mask 0/2",
        "✗ mask over heads",
        "> scores = scores.masked_fill(~mask, -1e9)",
        "This is what you get when a 3-D mask is broadcast over heads.",
        "→ unsqueeze the head dimension",
        "seen in mask · three dimensional mask",
        "first wrong entry",
        "Printed during mask · three dimensional mask:",
        "seed 17 · 0.21 s",
    ]
    positions = [output.index(fact) for fact in facts]
    assert positions == sorted(positions)


def test_grade_without_a_name_takes_the_current_kata(tool):
    """`start` makes a kata the current one."""
    tool("start", "second")
    tool.answer("pass")
    assert "second passed" in tool("grade").stdout


def test_grade_without_a_name_and_nothing_started(tool):
    """Nothing to grade is wrong use, with the next step."""
    error = tool("grade", code=2).stderr
    assert "No kata has been started yet" in error
    assert "`kata list` shows the katas" in error


def test_grade_before_start(tool):
    """A file that is not there is wrong use, with the next step."""
    error = tool("grade", "second", code=2).stderr
    assert "There is no file workspace/second.py." in error
    assert "`kata start second` begins it." in error


def test_grade_another_file(tool, tmp_path):
    """--file grades a file elsewhere, makes no workspace, records nothing, and takes the kata from the file's name."""
    path = tmp_path / "second.py"
    path.write_text("pass")
    assert "second passed" in tool("grade", "--file", str(path)).stdout
    assert not tool.workspace.exists()
    assert json.loads(tool("status", "second", "--json").stdout)["attempts"] == 0
    assert "There is no file" in tool("grade", "second", "--file", "nowhere.py", code=2).stderr


def test_a_file_whose_name_says_nothing(tool, tmp_path):
    """What it defines says which kata it answers; else it is one to the current kata, and without one nobody knows."""
    path = tmp_path / "attempt.py"
    path.write_text("x = 1")
    error = tool("grade", str(path), code=2).stderr
    assert "Neither its name nor what it defines says which kata" in error
    assert "`kata grade KATA --file" in error
    assert "There is no file" in tool("grade", "--file", "nowhere.py", code=2).stderr
    tool("start", "second")
    assert "second:" in tool("grade", str(path), code=1).stdout
    path.write_text("def third(x):\n    pass\n")
    assert "third passed" in tool("grade", str(path)).stdout


def test_json_is_the_report_and_nothing_else(tool):
    """--json prints one document on standard output, the one that is stored."""
    tool.answer("fail")
    result = tool("grade", "second", "--json", "--seed", "5", code=1)
    document = json.loads(result.stdout)
    expected = tool.driver.report(tool.driver.FAILING, seed=5, mistakes=[tool.driver.MISTAKE])
    assert document == expected | {"repro": "print('the failing call')\n"}
    assert result.stderr == ""
    with sqlite3.connect(tool.home / "history.db") as db:
        assert json.loads(db.execute("SELECT report FROM attempts").fetchone()[0]) == document
    db.close()


def test_a_grader_that_fails_ends_with_3(tool):
    """The learner reads that it was not the answer, in words and as a whole JSON document."""
    tool.answer("error")
    assert "The grader itself failed, not your answer." in tool("grade", "second", code=3).stdout
    document = json.loads(tool("grade", "second", "--json", code=3).stdout)
    assert document.keys() == tool.driver.report([]).keys()
    assert document["verdict"] == "error"
    assert document["message"].startswith("the judge ended without a report")


def test_a_bug_while_grading_is_an_error_report(tool):
    """An exception that nobody foresaw gives a JSON document, too."""
    tool.answer("bug")
    document = json.loads(tool("grade", "second", "--json", code=3).stdout)
    assert "ZeroDivisionError" in document["message"]
    assert list(tool.home.glob("crash-*.txt"))


def test_chosen_cases_do_not_pass_a_kata(tool):
    """A pass with --case says so and does not count."""
    tool.answer("pass")
    assert "`kata grade second` runs every case." in tool("grade", "second", "--case", "rows").stdout
    assert json.loads(tool("status", "second", "--json").stdout)["passed"] is False


def test_an_unknown_device_is_wrong_use(tool):
    """A device that cannot exist is refused before anything starts."""
    assert "none of cpu, cuda, cuda:N, mps" in tool("grade", "second", "--device", "tpu", code=2).stderr


def test_an_answer_that_is_too_large(tool):
    """What cannot be an answer to a kata is refused with the reason."""
    tool.answer("#" * (1 + (1 << 20)))
    assert "is larger than 1 MiB" in tool("grade", "second", code=2).stderr


def test_every_graded_version_is_kept_once(tool):
    """The same text is not kept twice in a row, a changed one is kept again."""
    for text in ("fail", "fail", "fail again", "fail"):
        tool.answer(text)
        tool("grade", "second", code=1)
    assert tool.kept() == ["fail", "fail again", "fail"]
    assert json.loads(tool("status", "second", "--json").stdout)["attempts"] == 4


def test_a_full_disk_does_not_cost_the_verdict(tool, monkeypatch):
    """A version that cannot be kept is a warning beside the verdict."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    tool.answer("pass")
    monkeypatch.setattr(workspace, "_temporary", full)
    result = tool("grade", "second")
    assert "second passed" in result.stdout
    assert "Warning: This version of the file could not be kept." in result.stderr
    assert "the disk is full" in result.stderr


def test_a_full_database_does_not_cost_the_verdict(tool, monkeypatch):
    """A history without room is a warning beside the verdict, and what it held stays."""
    tool.answer("pass")
    tool("grade", "second")
    connect = sqlite3.connect

    def small(*args, **kwargs):
        db = connect(*args, **kwargs)
        db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
        return db

    tool.answer("pass" + "# long\n" * 10000)
    monkeypatch.setattr(sqlite3, "connect", small)
    result = tool("grade", "second", "--json")
    assert json.loads(result.stdout)["verdict"] == "passed"
    assert "Warning: This attempt is not in your history." in result.stderr
    assert "the disk is full" in result.stderr
    assert json.loads(tool("status", "second", "--json").stdout)["attempts"] == 1


def test_a_read_only_history_does_not_cost_the_verdict(tool, monkeypatch):
    """The exit code stays the verdict's, what is recorded can still be read."""
    tool.answer("fail")
    tool("grade", "second", code=1)
    connect = sqlite3.connect

    def read_only(*args, **kwargs):
        db = connect(*args, **kwargs)
        db.execute("PRAGMA query_only = 1")
        return db

    monkeypatch.setattr(sqlite3, "connect", read_only)
    result = tool("grade", "second", code=1)
    assert "it is read-only" in result.stderr
    assert json.loads(tool("status", "second", "--json").stdout)["attempts"] == 1
    assert "second" in tool("list").stdout


def test_a_history_folder_that_cannot_be_made(tool):
    """A file in the place of the folder costs the history, not the verdict; commands that need it say why."""
    tool.home.write_text("")
    tool.answer("pass")
    result = tool("grade", "second")
    assert "second passed" in result.stdout
    assert f"The history cannot be kept in {tool.home}: a file is in the place of a folder." in result.stderr
    assert "first-one" in tool("list").stdout
    assert "is written" in tool("start", "third").stdout
    assert "KATA_HOME=FOLDER" in tool("status", code=3).stderr


def test_a_damaged_history_is_set_aside_and_named(tool):
    """The damaged file is kept under another name, the verdict and a new history are there."""
    tool.home.mkdir()
    (tool.home / "history.db").write_bytes(b"no database at all" * 100)
    tool.answer("pass")
    result = tool("grade", "second")
    (aside,) = tool.home.glob("history-damaged-*.db")
    assert aside.read_bytes().startswith(b"no database")
    assert aside.name in result.stderr
    assert json.loads(tool("status", "second", "--json").stdout)["attempts"] == 1


def test_a_newer_history_is_left_alone(tool):
    """A history of a newer kata is not touched; the verdict comes all the same."""
    tool.home.mkdir()
    path = tool.home / "history.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE future (x)")
    db.execute("PRAGMA user_version = 99")
    db.close()
    before = path.read_bytes()
    tool.answer("fail")
    sentence = f"was written by a newer kata (schema 99, this one knows {len(MIGRATIONS)})"
    assert sentence in tool("grade", "second", code=1).stderr
    tool("status", code=3)
    assert path.read_bytes() == before
    assert [file.name for file in tool.home.iterdir()] == ["history.db"]


def test_ctrl_c_in_this_process(tool):
    """An interrupted grading ends with 130 and a sentence."""
    tool.answer("interrupt")
    assert "Stopped. Your files are as they were." in tool("grade", "second", code=130).stderr


def _wait_for(path: Path, pattern: str) -> None:
    deadline = time.monotonic() + 20
    while not list(path.glob(pattern)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_ctrl_c_from_outside(tool):
    """A real SIGINT ends the process with 130, without a traceback, and the version is kept."""
    path = tool.answer("wait")
    process = tool.process("grade", "second")
    _wait_for(tool.workspace, ".attempts/second/*.py")
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 130
    assert error == b"Stopped. Your files are as they were.\n"
    assert path.read_text() == "wait"


def test_kill_in_the_middle_loses_nothing(tool):
    """After kill -9 the answer and its kept version are there and the next grading works."""
    path = tool.answer("wait")
    process = tool.process("grade", "second")
    _wait_for(tool.workspace, ".attempts/second/*.py")
    process.kill()
    process.communicate(timeout=20)
    assert path.read_text() == "wait"
    assert tool.kept() == ["wait"]
    tool.answer("pass")
    tool("grade", "second")


def test_two_gradings_at_once(tool):
    """Graders that write at the same moment lose no attempt and no version."""
    names = {"first-one": "first_one.py", "second": "second.py", "third": "third.py"}
    for kata, name in names.items():
        tool.answer(f"fail {kata}", name)
    processes = [tool.process("grade", kata, "--json") for kata in [*names, *names]]
    for process in processes:
        output, error = process.communicate(timeout=60)
        assert process.returncode == 1, error
        assert json.loads(output)["verdict"] == "failed"
        assert error == b""
    for kata in names:
        assert json.loads(tool("status", kata, "--json").stdout)["attempts"] == 2
        assert set(tool.kept(kata)) == {f"fail {kata}"}


def test_output_in_plain_characters(tool):
    """An output that knows only ASCII gets plain marks, and no error."""
    tool.answer("fail")
    process = tool.process("grade", "second", environment={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    output, error = process.communicate(timeout=20)
    assert process.returncode == 1, error
    assert b"x second: 1 of 3 cases pass" in output
    assert b"-> unsqueeze the head dimension" in output


def _on_a_terminal(tool, *arguments, environment=None):
    """Run a command with standard output and error on a terminal and return what it wrote there."""
    ours, theirs = pty.openpty()
    process = tool.process(
        *arguments,
        stdout=theirs,
        stderr=theirs,
        environment={"TERM": "xterm-256color", "COLUMNS": "60"} | (environment or {}),
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # Linux: the other end is closed
            break
        if not piece:
            break
        written += piece
    os.close(ours)
    return process.wait(timeout=20), written.decode()


def test_progress_on_a_terminal(tool):
    """A terminal sees a line that moves and goes away; a pipe sees none."""
    tool.answer("pass")
    code, written = _on_a_terminal(tool, "grade", "second")
    assert code == 0
    assert "second: case 2 of 2" in written
    assert written.index("case 2 of 2") < written.index("passed: 2 cases")
    assert "\x1b[1;32m" in written
    assert "looking for the cause" not in written
    output, error = tool.process("grade", "second").communicate(timeout=20)
    assert b"\x1b" not in output + error
    assert b"\r" not in output + error


def test_a_terminal_is_told_that_the_cause_is_looked_for(tool):
    """Between the last case and the page; that may take seconds."""
    tool.answer("fail")
    _code, written = _on_a_terminal(tool, "grade", "second")
    assert written.index("looking for the cause") < written.index("cases pass")


def test_no_colour_on_request(tool):
    """NO_COLOR is obeyed on a terminal."""
    tool.answer("fail")
    code, written = _on_a_terminal(tool, "grade", "second", environment={"NO_COLOR": "1"})
    assert code == 1
    assert "\x1b[31m" not in written
    assert "\x1b[1;31m" not in written


def test_the_task_is_rendered_on_a_terminal_only(tool):
    """A terminal gets rendered Markdown, a pipe the Markdown itself."""
    _, written = _on_a_terminal(tool, "start", "second")
    assert "# Second" not in written
    assert "# Second" in tool("start", "second").stdout


def test_a_reader_that_goes_away(tool):
    """An attempt is recorded although nobody reads the verdict to its end."""
    tool.answer("fail")
    ours, theirs = os.pipe()
    os.close(ours)
    process = tool.process("grade", "second", stdout=theirs)
    os.close(theirs)
    _, error = process.communicate(timeout=20)
    assert b"Traceback" not in error
    assert json.loads(tool("status", "second", "--json").stdout)["attempts"] == 1


def test_repro_writes_the_failing_call(tool):
    """The script of the last failed attempt lies in the workspace; an older one is kept."""
    tool.answer("fail")
    tool("grade", "second", code=1)
    assert "workspace/repro_second.py repeats the failing case" in tool("repro", "second").stdout
    path = tool.workspace / "repro_second.py"
    assert path.read_text() == "print('the failing call')\n"
    path.write_text("my notes")
    assert "The older script is now workspace/.attempts/repro_second/" in tool("repro", "second").stdout
    assert path.read_text() == "print('the failing call')\n"
    assert tool.kept("repro_second") == ["my notes"]


def test_repro_without_a_failure(tool):
    """Where nothing failed, or no call can be repeated, the learner is told so."""
    assert "No attempt at second has failed" in tool("repro", "second", code=2).stderr
    tool.answer("fail")
    tool("grade", "second", code=1)
    with sqlite3.connect(tool.home / "history.db") as db:
        db.execute("UPDATE attempts SET report = json_remove(report, '$.repro')")
    db.close()
    assert "has no call that a script could repeat" in tool("repro", "second", code=2).stderr
