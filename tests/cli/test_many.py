"""grade --all, and grade with many files: many answers at once, none of which disturbs another."""

import io
import json
import os
import signal
import threading
from collections import Counter

import pytest
from rich.console import Console

from grader.cli.duplicates import told_of
from grader.pool import as_completed
from grader.show import many
from grader.show.many import Row
from grader.text import cells


@pytest.fixture
def files(tool, tmp_path):
    """Return a function that writes files outside of the workspace and returns the options that name them."""

    def write(**texts):
        folder = tmp_path / "class"
        folder.mkdir(exist_ok=True)
        options = []
        for name, text in texts.items():
            path = folder / f"{name}.py"
            path.write_text(text)
            options += ["--file", str(path)]
        return options

    return write


def lines(output):
    """Return the reports of JSON lines, by the name of their file."""
    reports = [json.loads(line) for line in output.splitlines()]
    return {os.path.basename(report["file"]): report for report in reports}  # noqa: PTH119 - a word, not a path


def test_a_class(tool, files):
    """A line for each answer in the order of the files, what most got wrong, and 1 because some failed."""
    texts = {f"wrong_{number}": "fail" for number in range(5)}
    output = tool("grade", "second", *files(right="pass", **texts), code=1).stdout
    rows = output.splitlines()
    assert rows[0].startswith("✓ ")
    assert rows[0].endswith("class/right.py    2/2")
    assert "class/wrong_0.py  1/3  mask over heads" in rows[1]
    assert "1 of 6 answers passed · 4 copies" in output
    assert "5 × mask over heads" in output  # noqa: RUF001 - a multiplication sign is meant


def test_all_pass(tool, files):
    """Then it ends with 0."""
    assert "2 of 2 answers passed" in tool("grade", "second", *files(one="pass", two="pass")).stdout


def test_one_bad_answer_disturbs_no_other(tool, files):
    """Each line says what happened; the highest of the codes counts."""
    options = files(right="pass", wrong="fail", broken="error", bug="bug", gone="", garbled="")
    (tool.folder.parent / "class" / "gone.py").unlink()
    (tool.folder.parent / "class" / "garbled.py").write_bytes(b"\xff")
    found = lines(tool("grade", "second", *options, "--json", "--jobs", "2", code=3).stdout)
    verdicts = {name: report["verdict"] for name, report in found.items()}
    assert verdicts == {
        "right.py": "passed",
        "wrong.py": "failed",
        "broken.py": "error",
        "bug.py": "error",
        "gone.py": "failed",
        "garbled.py": "failed",
    }
    assert "There is no file" in found["gone.py"]["message"]
    assert "is not UTF-8 text" in found["garbled.py"]["message"]
    assert "ZeroDivisionError" in found["bug.py"]["message"]
    assert found["gone.py"].keys() == tool.driver.report([]).keys()
    table = tool("grade", "second", *options, code=3).stdout
    assert "1 of 6 answers passed · 2 gradings broke" in table


def test_a_file_that_cannot_be_read_is_wrong_use(tool, files):
    """As for a single file, it ends with 2."""
    tool("grade", "second", *files(right="pass"), "--file", "nowhere.py", code=2)


def test_json_lines(tool, files):
    """One whole report a line, nothing else; --jobs says that a single file is one of many."""
    result = tool("grade", "second", *files(one="fail"), "--json", "--jobs", "1", code=1)
    (line,) = result.stdout.splitlines()
    assert json.loads(line)["mistakes"] == [tool.driver.MISTAKE]
    assert result.stderr == ""


def test_the_same_file_twice(tool, files):
    """It has two reports."""
    option = files(one="pass")
    assert len(tool("grade", "second", *option, *option, "--json").stdout.splitlines()) == 2


def test_copies_are_graded_once(tool, files):
    """Each has the report of the first one, under its own name; another kata or another text is no copy."""
    options = files(ann="fail", bob="fail", cai="fail ", dan="pass")
    before = len(tool.driver.GRADED)
    found = lines(tool("grade", "second", *options, "--json", code=1).stdout)
    assert len(tool.driver.GRADED) - before == 3
    ann, bob, cai = found["ann.py"], found["bob.py"], found["cai.py"]
    assert bob["same_as"] == ann["file"]
    assert "same_as" not in ann | cai
    failing = next(case for case in bob["cases"] if case["outcome"] == "failed")
    assert failing["where"] == "bob.py:31"
    different = {"file", "same_as", "cases"}
    assert {key: bob[key] for key in bob.keys() - different} == {key: ann[key] for key in ann.keys() - different}


def test_the_name_in_the_report_of_a_copy():
    """Where the grader names the file, it is the copy's own; what the learner wrote or printed stays."""
    case = {
        "message": "at a.py, not data.py",
        "where": "a.py:3",
        "line": "open('a.py')",
        "remarks": [],
        "printed": "a.py",
    }
    case["remarks"] = [{"message": "seldom", "where": "a.py:9"}]
    report = {"file": "x/a.py", "message": "", "where": "", "repro": 'with_name("a.py")', "cases": [case]}
    told = told_of(report, "y/b\\1.py")
    assert (told["file"], told["same_as"], told["repro"]) == ("y/b\\1.py", "x/a.py", 'with_name("b\\1.py")')
    (told_case,) = told["cases"]
    assert told_case["message"] == "at b\\1.py, not data.py"
    assert (told_case["where"], told_case["remarks"][0]["where"]) == ("b\\1.py:3", "b\\1.py:9")
    assert (told_case["line"], told_case["printed"]) == ("open('a.py')", "a.py")
    assert report["cases"] == [case]


def test_files_elsewhere_are_no_attempts(tool, files):
    """Only the workspace's own file is recorded and kept."""
    tool.answer("pass")
    tool("grade", "second", *files(one="fail", two="fail"), "--file", "workspace/second.py", code=1)
    assert [row["verdict"] for row in json.loads(tool("status", "second", "--json").stdout)["gradings"]] == ["passed"]
    assert tool.kept() == ["pass"]


def test_a_file_names_its_kata(tool, files):
    """Without KATA the names count, and a name that says nothing is refused before anything is graded."""
    options = files(first_one="pass", third="pass")
    found = lines(tool("grade", *options, "--json").stdout)
    assert {name: report["kata"] for name, report in found.items()} == {
        "first_one.py": "first-one",
        "third.py": "third",
    }
    result = tool("grade", *options, *files(alice="pass"), "--json", code=2)
    assert "alice.py is not that of a kata." in result.stderr
    assert "`kata grade KATA --file ...` says what all of them answer." in result.stderr
    assert result.stdout == ""


def test_a_folder(tool, tmp_path):
    """Its Python files and those in folders below are graded; hidden ones are not."""
    for name in ("alice/second.py", "bob/second.py", "bob/.attempts/second.py", "notes.txt", ".hidden.py"):
        path = tmp_path / "class" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("pass")
    output = tool("grade", "--file", str(tmp_path / "class")).stdout
    assert "2 of 2 answers passed" in output
    assert "alice/second.py" in output
    (tmp_path / "empty").mkdir()
    assert "There is no Python file in" in tool("grade", "--file", str(tmp_path / "empty"), code=2).stderr


def test_the_workspace_as_a_folder(tool):
    """Its answers are graded and recorded; the scripts of `kata repro` beside them are none."""
    tool.answer("fail")
    tool("grade", "second", code=1)
    tool("repro", "second")
    assert "0 of 1 answer passed" in tool("grade", "workspace/", code=1).stdout
    assert json.loads(tool("status", "second", "--json").stdout)["attempts"] == 2


def test_everything_in_the_workspace(tool):
    """--all grades every answer there and records each."""
    assert "There is no answer in workspace yet." in tool("grade", "--all", code=2).stderr
    tool.answer("fail", "third.py")
    tool.answer("pass", "first_one.py")
    tool.answer("print('no answer')", "repro_third.py")
    found = lines(tool("grade", "--all", "--json", code=1).stdout)
    assert {report["kata"]: report["verdict"] for report in found.values()} == {
        "first-one": "passed",
        "third": "failed",
    }
    assert json.loads(tool("status", "third", "--json").stdout)["attempts"] == 1
    output = tool("grade", "--all", code=1).stdout
    assert output.index("first_one.py") < output.index("third.py")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["second", "--all"], "--all takes no KATA"),
        (["--all", "--file", "second.py"], "--all takes no KATA"),
        (["--jobs", "2"], "--jobs goes with --all or --file"),
        (["--all", "--jobs", "0"], "--jobs"),
    ],
)
def test_what_does_not_go_together(tool, arguments, problem):
    """It is refused before anything starts."""
    assert problem in tool("grade", *arguments, code=2).stderr


def test_ctrl_c_shows_what_is_done(tool, files):
    """What was graded is shown, what is running ends, and the exit code is 130."""
    process = tool.process("grade", "second", *files(slow="wait", one="pass", two="pass"), "--jobs", "2", "--json")
    for _ in range(2):
        assert json.loads(process.stdout.readline())["verdict"] == "passed"
    process.send_signal(signal.SIGINT)
    output, error = process.communicate(timeout=20)
    assert process.returncode == 130
    assert output == b""
    assert error == b"Stopped. Your files are as they were.\n"


def test_ctrl_c_on_a_terminal(tool, files, terminal):
    """The bar counts, and the summary of what is done is shown."""
    options = files(slow="wait", one="pass", two="fail")
    screen = terminal(tool.process, "grade", "second", *options, "--jobs", "2", columns=100)
    screen.until("2/3")
    screen.press("\x03")
    screen.until("1 of 2 answers passed · 1 not graded")
    assert screen.end() == 130


def test_a_narrow_terminal(tool, files, terminal):
    """No line is wider than the window, and of a long path the end is shown."""
    screen = terminal(tool.process, "grade", "second", *files(one="pass", two="fail"), columns=40)
    assert screen.end() == 1
    rows = screen.plain.replace("\r", "\n").split("\n")
    assert max(map(len, rows)) <= 40
    assert any("…" in row and "class/two.py  1/3" in row for row in rows)


def test_the_pool_takes_no_more_than_it_works_on():
    """With two jobs two items are at work at a time, and results come as they are done."""
    first = threading.Event()
    busy, most = [], []

    def work(item):
        busy.append(item)
        most.append(len(busy))
        if item == 0:
            assert first.wait(20)
        busy.remove(item)
        return item * item

    found = as_completed(range(5), work, jobs=2, stop=lambda: None)
    assert [next(found) for _ in range(4)] == [(1, 1), (2, 4), (3, 9), (4, 16)]
    first.set()
    assert list(found) == [(0, 0)]
    assert max(most) <= 2


def test_the_pool_ends_when_nobody_listens():
    """What runs is stopped, what waits never begins; an exception of the work arrives."""
    stopped = threading.Event()
    begun = []

    def work(item):
        begun.append(item)
        if item:
            assert stopped.wait(20)
        return item

    found = as_completed(range(100), work, jobs=2, stop=stopped.set)
    assert next(found) == (0, 0)
    found.close()
    assert len(begun) <= 4
    with pytest.raises(ZeroDivisionError):
        list(as_completed([1, 0], lambda item: 1 / item, jobs=1, stop=lambda: None))
    with pytest.raises(ZeroDivisionError):
        list(as_completed((1 / item for item in [1, 0]), str, jobs=2, stop=lambda: None))


def test_all_get_the_same_inputs(tool, files):
    """One seed is drawn for all of them, another one in the next run; `--seed` says which."""
    texts = {f"answer_{number}": "pass" for number in range(4)}
    options = [*files(**texts), "--json", "--jobs", "2"]
    runs = [lines(tool("grade", "second", *options).stdout) for _run in range(2)]
    first, second = ({report["seed"] for report in run.values()} for run in runs)
    assert len(first) == len(second) == 1
    assert first != second
    chosen = lines(tool("grade", "second", *options, "--seed", "5").stdout)
    assert {report["seed"] for report in chosen.values()} == {5}


def test_full_is_about_one_answer(tool):
    """A table has no room for whole pages, which is said."""
    tool.answer("fail")
    assert "--full is about one answer." in tool("grade", "--all", "--full", code=2).stderr


def test_a_file_that_is_not_there(tool, files):
    """Of a path whose name says nothing it is said first that nothing is there."""
    options = files(second="pass")
    assert "There is no file nope.py" in tool("grade", *options, "--file", "nope.py", code=2).stderr


def test_sixty_columns(monkeypatch):
    """Counts are never cut, and some of the reason is there: the paths make room."""
    names = "positional-encoding", "kernel-regression"
    rows = [Row(f"workspace/{name}.py", name, "failed", "285/300", "a reason of some length", False) for name in names]
    screen = Console(file=io.StringIO(), width=60, force_terminal=True, color_system=None, highlight=False)
    monkeypatch.setattr(many, "console", lambda: screen)
    many.summary(rows, 2, Counter())
    for line in screen.file.getvalue().splitlines()[:2]:
        assert "  285/300  a reason" in line
        assert cells(line) <= 60
