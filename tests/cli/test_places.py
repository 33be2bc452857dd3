"""Which workspace a command uses, what a path names, and which kata is the current one."""

import json
import shutil
import sys
from pathlib import Path

import pytest

ON_A_KATA = ("hint", "solution", "reset", "restore", "status", "repro", "watch")


def current(tool):
    """Return the current kata."""
    return json.loads(tool("list", "--json").stdout)["current"]


def attempts(tool, kata="second"):
    """Return how many attempts at a kata are recorded."""
    return json.loads(tool("status", kata, "--json").stdout)["attempts"]


@pytest.fixture
def began(tool):
    """Return the tool after `start second`, with a passing answer."""
    tool("start", "second")
    tool.answer("pass")
    return tool


@pytest.mark.parametrize("below", [".", ".attempts", ".attempts/second"])
def test_inside_the_workspace(began, monkeypatch, below):
    """Being in it, or in a folder of it, is as good as being above it, and makes no second one."""
    began("grade")
    monkeypatch.chdir(began.workspace / below)
    result = began("grade", "second")
    assert "second passed" in result.stdout
    assert result.stderr == ""
    began("start", "third")
    assert (began.workspace / "third.py").exists()
    assert list(began.folder.rglob("workspace")) == [began.workspace]


def test_a_workspace_that_has_just_been_made(tool, monkeypatch):
    """An empty folder of that name is meant to be one."""
    tool.workspace.mkdir()
    monkeypatch.chdir(tool.workspace)
    assert "second.py is written." in tool("start", "second").stdout
    assert [path.name for path in tool.workspace.iterdir()] == ["second.py"]


def test_below_the_folder_of_the_workspace(began, monkeypatch):
    """The workspace is found upwards, which is said."""
    below = began.folder / "notes" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    result = began("grade")
    assert "second passed" in result.stdout
    assert f"The workspace is {began.workspace}, found above this folder." in result.stderr
    assert list(below.iterdir()) == []


def test_in_any_other_folder(began, monkeypatch, tmp_path):
    """The workspace used last is used, which is said once; nothing is written where one stands."""
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    for arguments in (["grade"], ["start", "third"], ["reset", "third"], ["restore", "--list"]):
        result = began(*arguments)
        assert result.stderr == f"The workspace is {began.workspace}, the one used last.\n"
    assert (began.workspace / "third.py").exists()
    assert list(other.iterdir()) == []
    assert began("doctor", "--json").stderr == ""


def test_the_workspace_used_last_is_the_last_one(began, monkeypatch, tmp_path):
    """Whichever command used it, whoever chose it; one that is gone is forgotten."""
    chosen = tmp_path / "chosen"
    began("--workspace", str(chosen), "start", "third")
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    assert f"{chosen}, the one used last" in began("reset", "third").stderr
    began("grade", "second", KATA_WORKSPACE=str(began.workspace))
    assert f"{began.workspace}, the one used last" in began("grade", "second").stderr
    shutil.rmtree(began.workspace)
    assert "There is no file workspace/second.py." in began("grade", "second", code=2).stderr


def test_a_foreign_folder_called_workspace(began, monkeypatch, tmp_path):
    """Above the folder one stands in, only one that holds answers counts."""
    here = tmp_path / "project" / "workspace" / "src"
    here.mkdir(parents=True)
    (here.parent / "main.py").write_text("")
    monkeypatch.chdir(here)
    assert "the one used last" in began("grade").stderr


@pytest.mark.parametrize("command", ["grade", *ON_A_KATA])
def test_the_printed_path_names_the_kata(began, monkeypatch, command):
    """Wherever a kata is taken, the path of its file is as good: from the folder above, inside, absolute."""
    began.answer("fail")
    began("grade", code=1)
    began.answer("fail again")
    code = {"grade": 1, "solution": 2}.get(command, 0)
    monkeypatch.setattr("grader.cli.watch.Watch.run", lambda _watch: None)
    for path in ("workspace/second.py", "./workspace/second.py", str(began.workspace / "second.py")):
        began(command, path, code=code)
    monkeypatch.chdir(began.workspace)
    for path in ("second.py", "workspace/second.py"):
        began(command, path, code=code)


def test_the_path_of_a_planted_file(tool):
    """It names the debug round."""
    tool("start", "third", "--debug", "--seed", "1")
    tool("start", "second")
    assert "third --debug" in tool("hint", "workspace/third_debug.py").stdout
    assert "third --debug" in tool("grade", "workspace/third_debug.py", code=1).stdout


@pytest.mark.parametrize("command", ON_A_KATA)
def test_the_path_of_a_file_elsewhere(began, tmp_path, command):
    """A command on the learner's own files refuses somebody else's, and says how that is graded."""
    path = tmp_path / "second.py"
    path.write_text("fail")
    error = began(command, str(path), code=2).stderr
    assert f"{path} is not in the workspace workspace." in error
    assert f"`kata grade --file {path}` grades a file elsewhere" in error
    assert path.read_text() == "fail"


@pytest.mark.parametrize("arguments", [["PATH"], ["--file", "PATH"], ["second", "--file", "PATH"]])
def test_a_file_elsewhere_is_graded_and_never_recorded(began, tmp_path, arguments):
    """No attempt, no version, no other hint, no other script, not the current kata: and the page says so."""
    began("grade")
    began("start", "third")
    path = tmp_path / "second.py"
    path.write_text("fail")
    before = began("restore", "second", "--list").stdout
    page = began("grade", *(str(path) if word == "PATH" else word for word in arguments), code=1).stdout
    assert f"Graded, not recorded: {path} is not in your workspace." in page
    assert "kata hint" not in page
    assert attempts(began) == 1
    assert began("restore", "second", "--list").stdout == before
    assert began.kept() == ["pass"]
    assert "No attempt at second has failed" in began("repro", "second", code=2).stderr
    assert "Chosen because" not in began("hint", "second").stdout


def test_a_file_elsewhere_does_not_become_the_current_kata(began, tmp_path):
    """Only what is touched in the workspace does."""
    path = tmp_path / "third.py"
    path.write_text("fail")
    began("grade", "--file", str(path), code=1)
    began("grade", str(path), code=1)
    assert current(began) == "second"


def test_a_repaired_file_elsewhere_does_not_show_what_was_planted(tool, tmp_path):
    """The round stays open; its own file has to be repaired."""
    tool("start", "third", "--debug", "--seed", "1")
    path = tmp_path / "third_debug.py"
    path.write_text("pass")
    assert "planted mistake" not in tool("grade", "--file", str(path)).stdout
    assert json.loads(tool("status", "third", "--debug", "--json").stdout)["debug"]["state"] == "open"


def test_the_own_file_by_its_path_is_an_attempt(began):
    """--file with the workspace's own file is no other file."""
    began("grade", "--file", "workspace/second.py")
    assert attempts(began) == 1


@pytest.mark.parametrize("command", ["grade", "hint", "watch", "reset", "restore", "repro", "solution"])
def test_what_was_touched_last_is_current(tool, monkeypatch, command):
    """Whatever names a kata and works on it sets it, as `start` does: the next command is about the same one."""
    monkeypatch.setattr("grader.cli.watch.Watch.run", lambda _watch: None)
    tool("start", "second")
    tool.answer("fail")
    tool("grade", "second", code=1)
    tool.answer("fail again")
    tool("start", "third")
    assert current(tool) == "third"
    tool(command, "second", code={"grade": 1, "solution": 2}.get(command, 0))
    assert current(tool) == "second"


def test_looking_is_not_touching(began):
    """`status ID` and `restore ID --list` leave the current kata as it is."""
    began("grade")
    began("start", "third")
    began("status", "second")
    began("restore", "second", "--list")
    assert current(began) == "third"


def test_a_hint_after_a_grading_is_for_the_same_kata(began):
    """`hint` after `grade ID` does not spend the hints of another kata."""
    began("start", "third")
    began.answer("fail")
    began("grade", "second", code=1)
    assert began("hint").stdout.startswith("second\n")
    assert json.loads(began("status", "third", "--json").stdout)["hints"] == 0


def test_touching_starts_no_clock_and_no_ladder(tool):
    """A hint before the start belongs to the same round as the one after it."""
    tool("hint", "second")
    assert json.loads(tool("status", "second", "--json").stdout)["started"] is None
    assert "hint 2 of 3" in tool("hint").stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["start", "second"],
        ["grade"],
        ["grade", "--case", "rows"],
        ["hint"],
        ["repro"],
        ["status", "second"],
        ["restore", "--list"],
        ["restore"],
        ["reset"],
        ["solution", "--give-up", "--diff"],
    ],
    ids=" ".join,
)
def test_every_page_begins_with_the_kata(tool, arguments):
    """Whatever a page is about stands in its first line."""
    tool("start", "second")
    tool.answer("fail")
    tool("grade", "second", code=1)
    tool.answer("fail again")
    page = tool(*arguments, code=int(arguments[0] == "grade")).stdout
    assert "second" in page.splitlines()[0]


def test_what_starts_a_script(tool, monkeypatch, tmp_path):
    """A script is started by a Python that has torch, and by a line that a shell understands as it stands."""
    tool.answer("fail")
    tool("grade", "second", code=1)
    ours = Path(sys.executable).absolute()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert f"→ `{ours} -m pdb workspace/repro_second.py`" in tool("repro", COLUMNS="400").stdout
    monkeypatch.setenv("PATH", str(ours.parent))
    assert "→ `python -m pdb workspace/repro_second.py`" in tool("repro").stdout
    tool.workspace.rename(tool.folder / "my answers")
    said = tool("--workspace", "my answers", "repro").stdout
    assert "→ `python -m pdb 'my answers/repro_second.py'`" in said
