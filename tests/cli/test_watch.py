"""watch: every save is graded, on a terminal and in a pipe, whatever becomes of the file."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import termios
import time

import pytest


@pytest.fixture
def watch(tool, terminal):
    """Return a function that starts `kata watch second` in a terminal."""
    return lambda *arguments, **more: terminal(tool.process, "watch", *(arguments or ["second"]), **more)


def attempts(tool, kata="second", at_least=0):
    """Return the verdicts in the history, oldest first: they come after what is shown."""
    deadline = time.monotonic() + 20
    while True:
        found = json.loads(tool("status", kata, "--json").stdout)["gradings"]
        if len(found) >= at_least:
            return [row["verdict"] for row in found]
        assert time.monotonic() < deadline


def test_each_save_is_graded(tool, watch):
    """A stub waits, a failure and a pass are shown, kept and recorded as `kata grade` does; q ends with 0."""
    tool("start", "second")
    terminal = watch()
    terminal.until("waiting for your first save")
    tool.answer("fail\n")
    terminal.until("checking")
    terminal.until("first wrong entry [0, 1, 0]")
    terminal.until("h hint · t task · f whole page · q quit")
    tool.answer("pass\n")
    terminal.until("✓ second passed: 2 cases")
    terminal.until("n next: third")
    terminal.press("q")
    assert terminal.end() == 0
    assert attempts(tool) == ["failed", "passed"]
    assert tool.kept() == ["fail\n", "pass\n"]


def test_without_a_name_the_kata_that_was_touched_last(tool, terminal):
    """As for `kata grade`, and what is there already is graded at once."""
    tool("start", "second")
    tool.answer("pass\n")
    terminal(tool.process, "watch").until("✓ second passed")


def test_a_watch_needs_a_file(tool):
    """Before `kata start` there is nothing to watch."""
    assert "`kata start second` begins it." in tool("watch", "second", code=2).stderr


def test_the_terminal_is_given_back(tool, watch):
    """Single keys while it runs; afterwards, by whatever end, everything as before."""
    tool.answer("pass\n")
    for end, code in (("q", 0), ("\x03", 130), (signal.SIGTERM, 143)):
        terminal = watch()
        terminal.until("q quit")
        assert not terminal.modes()[3] & (termios.ICANON | termios.ECHO)
        if isinstance(end, str):
            terminal.press(end)
        else:
            terminal.process.send_signal(end)
        assert terminal.end() == code
        assert terminal.modes() == terminal.modes_before
        assert "Traceback" not in terminal.log


def test_stopped_and_continued(tool, terminal):
    """Ctrl-Z gives the terminal back to the shell; `fg` takes it again and draws the page anew."""
    tool.answer("pass\n")
    command = shlex.join([sys.executable, tool.driver.__file__, str(tool.content), "watch", "second"])

    def start(*arguments, environment, **more):
        return subprocess.Popen(arguments, env=os.environ | environment, **more)

    shell = terminal(start, "sh", "-i", environment={"PS1": "ready> ", "ENV": ""})
    shell.until("ready> ")
    shell.press(f"{command}\n")
    shell.until("q quit")
    shell.press("\x1a")
    shell.until("ready> ")
    shell.press("stty -a\n")
    modes = shell.until("ready> ").split()
    assert "icanon" in modes
    assert "echo" in modes
    shell.press("fg\n")
    shell.until("✓ second passed")
    shell.until("q quit")
    assert not shell.modes()[3] & termios.ICANON
    shell.press("q")
    shell.until("ready> ")
    shell.press("exit\n")
    assert shell.end() == 0


def test_a_save_by_rename(tool, watch):
    """Editors that write a new file and move it over the old one are understood."""
    path = tool.answer("fail\n")
    terminal = watch()
    terminal.until("✗ second")
    backup = path.with_name("second.py~")
    path.rename(backup)
    tool.answer("pass\n", "new.py").rename(path)
    terminal.until("✓ second passed")


def test_a_save_that_changes_nothing(tool, watch):
    """It is not graded again; neither is a file that goes and comes back as it was."""
    path = tool.answer("fail\n")
    terminal = watch()
    terminal.until("✗ second")
    tool.answer("fail\n")
    path.unlink()
    terminal.until("There is no file workspace/second.py. Waiting until it is back.")
    tool.answer("fail\n")
    terminal.until("as graded before")
    tool.answer("pass\n")
    assert attempts(tool, at_least=2) == ["failed", "passed"]


def test_the_folder_is_made_anew(tool, watch):
    """Not the folder of the beginning counts but the one that has this name."""
    tool.answer("fail\n")
    terminal = watch()
    terminal.until("✗ second")
    attempts(tool, at_least=1)
    shutil.rmtree(tool.workspace)
    terminal.until("Waiting until it is back")
    tool.answer("pass\n")
    terminal.until("✓ second passed")
    tool.answer("fail again\n")
    terminal.until("✗ second")


def test_a_file_that_is_no_text(tool, watch):
    """It is a failed answer with its line, from the first glance on, and the next save counts again."""
    path = tool.answer("")
    path.write_bytes(b"\xff")
    terminal = watch()
    terminal.until("second.py:1: the file is not UTF-8 text")
    tool.answer("pass\n")
    terminal.until("✓ second passed")
    path.write_bytes(b"x = 1\n\xff")
    terminal.until("second.py:2: the file is not UTF-8 text")
    terminal.press("q")
    assert terminal.end() == 0
    assert attempts(tool) == ["failed", "passed", "failed"]


def test_a_newer_save_cancels_a_grading(tool, watch):
    """The stale one leaves no verdict and no attempt; its version was kept before."""
    tool.answer("wait pass\n")
    terminal = watch()
    terminal.until("checking")
    tool.answer("fail\n")
    terminal.until("✗ second: 1 of 3 cases pass")
    terminal.press("q")
    assert terminal.end() == 0
    assert attempts(tool) == ["failed"]
    assert tool.kept() == ["wait pass\n", "fail\n"]


def test_quitting_does_not_wait_for_a_grading(tool, watch):
    """Pressing q in the middle of a long grading ends at once and records nothing."""
    tool.answer("wait\n")
    terminal = watch()
    terminal.until("checking")
    terminal.press("q")
    assert terminal.end() == 0
    assert attempts(tool) == []


def test_a_grader_that_fails(tool, watch):
    """It is not the answer's fault, and the next save has a new session."""
    tool.answer("error\n")
    terminal = watch()
    terminal.until("The grader itself failed, not your answer.")
    tool.answer("bug\n")
    terminal.until("ZeroDivisionError")
    tool.answer("pass\n")
    terminal.until("✓ second passed")


def test_the_task_again(tool, watch):
    """The key t shows the task; any other key returns to the verdict."""
    tool.answer("fail\n")
    terminal = watch()
    terminal.until("✗ second")
    terminal.until("q quit")
    terminal.press("t")
    terminal.until("The task.")
    terminal.until("any other key back")
    terminal.press("x")
    terminal.until("✗ second")
    terminal.press("q")
    assert terminal.end() == 0


def test_hints(tool, watch):
    """The key h shows the hint that fits, then one further each time; any other key returns to the verdict."""
    tool.answer("fail\n")
    terminal = watch()
    terminal.until("q quit")
    terminal.press("h")
    terminal.until("Chosen because of your last grading: mask over heads.")
    terminal.until("hint 2 of 3")
    terminal.press("h")
    terminal.until("hint 3 of 3")
    terminal.press(" ")
    terminal.until("✗ second: 1 of 3 cases pass")


def test_the_keys_below_a_hint_say_what_they_do(tool, watch):
    """The key f unfolds the hint and does not go back, n does; after the last hint no other one is offered."""
    tool.answer("pass\n")
    terminal = watch()
    terminal.until("n next: third")
    terminal.press("h")
    terminal.until("h next hint · f whole page · any other key back")
    terminal.press("f")
    assert "hint 1 of 3" in terminal.until("any other key back")
    terminal.press("n")
    assert "✓ second passed" in terminal.until("n next: third")
    terminal.press("h")
    terminal.until("any other key back")
    terminal.press("h")
    page = terminal.until("any other key back")
    assert "`kata solution second --give-up`" in page
    assert "h next hint" not in page


def test_the_next_kata(tool, watch):
    """The key n waits for a pass, then begins the next kata and watches it; the arrow keys mean nothing."""
    tool.answer("fail\n")
    terminal = watch()
    terminal.until("q quit")
    terminal.press("\x1b[A")
    terminal.press("n")
    terminal.until("second is not passed yet")
    tool.answer("pass\n")
    terminal.until("n next: third")
    terminal.press("n")
    terminal.until("third · waiting for your first save")
    terminal.until("The task.")
    tool.answer("pass\n", "third.py")
    terminal.until("✓ third passed")
    tool.answer("pass, too\n", "second.py")
    tool.answer("pass, too\n", "third.py")
    assert attempts(tool, "third", at_least=2) == ["passed", "passed"]
    assert attempts(tool) == ["failed", "passed"]


def test_a_page_that_does_not_fit(tool, watch):
    """It is cut, f unfolds it, a window that grows shows more, whatever the shell once said of its size."""
    tool.answer("fail\n")
    terminal = watch(rows=12, environment={"LINES": "25", "COLUMNS": "80"})
    cut = terminal.until("more lines: f")
    assert "seed 17" not in cut
    terminal.until("q quit")
    terminal.press("f")
    terminal.until("seed 17")
    terminal.until("q quit")
    terminal.press("f")
    terminal.until("more lines: f")
    terminal.until("q quit")
    terminal.resize(80, 60)
    terminal.until("seed 17")


@pytest.mark.parametrize("columns", [24, 40])
def test_a_narrow_window(tool, watch, columns):
    """No line is wider than the window."""
    tool.answer("fail\n")
    terminal = watch(columns=columns, rows=70)
    assert "checking" in terminal.until("q")
    # What is drawn at another place is another line.
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", re.sub(r"\x1b\[[0-9;]*H", "\n", terminal.log))
    assert max(len(line) for line in drawn.splitlines()) <= columns


def test_keys_that_need_two_lines_keep_their_words(tool, watch):
    """At 60 columns the keys after a pass say what they do, as they do at 80."""
    tool.answer("pass\n")
    terminal = watch(columns=60)
    lines = terminal.until("q quit").splitlines()
    assert lines[-2:] == ["h hint · t task · n next: third · f whole page", "1-4 rate anew · q quit"]


def test_no_colour_on_request(tool, watch):
    """NO_COLOR is obeyed."""
    tool.answer("fail\n")
    terminal = watch(environment={"NO_COLOR": "1"})
    terminal.until("q quit")
    assert "\x1b[1;31m" not in terminal.log
    assert "\x1b[35m" not in terminal.log


def test_a_pipe_gets_a_line_for_each_verdict(tool):
    """Without a terminal nothing is cleared and no key is waited for."""
    tool.answer("fail\n")
    process = tool.process("watch", "second")
    try:
        assert process.stdout.readline() == "✗ second: 1 of 3 cases pass · mask over heads\n".encode()
        (tool.workspace / "second.py").unlink()
        assert b"Waiting until it is back." in process.stdout.readline()
        tool.answer("pass\n")
        assert process.stdout.readline() == "✓ second passed: 2 cases in 0.21 s\n".encode()
        tool.answer("error\n")
        assert "! second · the judge ended without a report." in process.stdout.readline().decode()
    finally:
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=20)
    assert process.returncode == 130
    assert output == b""
    assert error == b"Stopped. Your files are as they were.\n"


def test_a_wish_that_cannot_be_fulfilled(tool):
    """A device that cannot exist is refused as by `kata grade`."""
    tool.answer("fail\n")
    assert "none of cpu, cuda, cuda:N, mps" in tool("watch", "second", "--device", "tpu", code=2).stderr


def test_with_the_real_grader(real, terminal):
    """One judge after another looks at each save, a syntax error among them; nothing is left behind in the end."""
    real.write("return x")
    with real.answer.open("a") as file:
        file.write("def (\n")
    screen = terminal(real.process, "watch", "double")
    screen.until("the file does not load: SyntaxError")
    real.write("while True: pass")
    screen.until("checking")
    real.write("if not hasattr(x, 'dtype'): raise TypeError('no tensor')\nreturn x + x")
    screen.until("✓ double passed")
    screen.press("q")
    assert screen.end() == 0
    assert not list(real.scratch.iterdir())
    shown = json.loads(real("status", "double", "--json").stdout)
    assert [row["verdict"] for row in shown["gradings"]] == ["failed", "passed"]
