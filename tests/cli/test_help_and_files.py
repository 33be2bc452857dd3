"""hint, solution, reset, restore and doctor."""

import json

import pytest

from grader.errors import GraderFailed


def test_hints_go_a_step_further_each_time(tool):
    """Each call shows the next rung; at the end the whole ladder and the way to the solution."""
    tool("start", "second")
    first, second, third, end = (tool("hint").stdout for _ in range(4))
    assert "Where to start" in first
    assert "## no rung" in first
    assert "Further" not in first
    assert "hint 1 of 3" in first
    assert "Further" in second
    assert "Where to start" not in second
    assert "`kata solution second --give-up`" in third
    assert "These are all 3 hints for second" in end
    assert end.index("Where to start") < end.index("Nearly")
    assert json.loads(tool("status", "second", "--json").stdout)["hints"] == 3


def test_hints_begin_anew_after_a_reset(tool):
    """A new round has the whole ladder before it."""
    tool("start", "second")
    tool("hint")
    tool.answer("mine")
    tool("reset")
    assert "hint 1 of 3" in tool("hint").stdout


def test_a_hint_without_a_history(tool):
    """A hint that cannot be noted is shown with a warning."""
    tool.home.write_text("")
    result = tool("hint", "second")
    assert "hint 1 of 3" in result.stdout
    assert "could not be noted" in result.stderr


def test_the_solution_waits_for_a_pass(tool):
    """Before a pass it is refused with the two ways out; after it, it is shown."""
    error = tool("solution", "second", code=2).stderr
    assert "The solution of second is shown once you have passed it." in error
    assert "--give-up" in error
    tool.answer("pass")
    tool("grade", "second")
    assert "return 42" in tool("solution", "second").stdout
    assert json.loads(tool("status", "second", "--json").stdout)["gave_up"] is False


def test_giving_up_is_recorded(tool):
    """--give-up shows the solution, and the history says so."""
    assert "return 42" in tool("solution", "second", "--give-up").stdout
    assert json.loads(tool("status", "second", "--json").stdout)["gave_up"] is True
    assert "gave up" in tool("list").stdout


def test_the_difference_to_the_solution(tool):
    """--diff leads from the learner's file to the solution, and needs that file."""
    assert "There is no file" in tool("solution", "second", "--give-up", "--diff", code=2).stderr
    tool.answer("def second():\n    return 41\n")
    lines = tool("solution", "second", "--give-up", "--diff").stdout.splitlines()
    assert lines[:2] == ["--- workspace/second.py", "+++ solution"]
    assert "-    return 41" in lines
    assert "+    return 42" in lines
    tool.answer('"""Mine."""\n\n\ndef second() -> int:\n    """Return it."""\n    return 42  # it\n')
    assert "The two do the same" in tool("solution", "second", "--give-up", "--diff").stdout


def test_reset_keeps_the_file(tool):
    """The answer is moved into .attempts before the stub takes its place, and restore brings it back."""
    tool("start", "second")
    stub = (tool.workspace / "second.py").read_text()
    assert "still as `kata start` wrote it" in tool("reset").stdout
    tool.answer("mine")
    assert "Your file is now workspace/.attempts/second/" in tool("reset").stdout
    assert (tool.workspace / "second.py").read_text() == stub
    assert tool.kept() == ["mine"]
    tool("restore")
    assert (tool.workspace / "second.py").read_text() == "mine"


def test_a_file_too_large_to_be_an_answer_comes_back(tool):
    """What was moved out of the way is listed and brought back, however large it is."""
    path = tool.answer("#" * (1 + (1 << 20)))
    tool("reset", "second")
    assert json.loads(tool("restore", "second", "--list", "--json").stdout)["versions"][0]["version"] == 1
    tool("restore", "second", "--list")
    tool("restore", "second")
    assert path.stat().st_size == 1 + (1 << 20)


def test_reset_of_nothing(tool):
    """Without a file there is nothing to reset."""
    assert "There is no file workspace/second.py." in tool("reset", "second", code=2).stderr


def test_restore_lists_and_brings_back(tool):
    """Versions are numbered over time, with their verdicts; the present file is kept in turn."""
    for text in ("fail one", "pass two"):
        tool.answer(text)
        tool("grade", "second", code=int(text.startswith("fail")))
    path = tool.answer("not graded")
    document = json.loads(tool("restore", "second", "--list", "--json").stdout)
    assert [(row["version"], row["verdict"]) for row in document["versions"]] == [(1, "failed"), (2, "passed")]
    assert "failed" in tool("restore", "second", "--list").stdout
    assert "is version 1 again" in tool("restore", "second", "--attempt", "1").stdout
    assert path.read_text() == "fail one"
    assert tool.kept() == ["fail one", "pass two", "not graded"]
    tool("restore", "second")
    assert path.read_text() == "not graded"
    tool("restore", "second")
    assert path.read_text() == "fail one"


def test_restore_from_the_history_alone(tool):
    """A version whose file is gone comes back from the history."""
    tool.answer("pass")
    tool("grade", "second")
    for file in (tool.workspace / ".attempts" / "second").iterdir():
        file.unlink()
    path = tool.answer("")
    tool("restore", "second")
    assert path.read_text() == "pass"


def test_restore_from_the_files_alone(tool):
    """Without a history the kept files are there all the same."""
    tool.answer("pass")
    tool("grade", "second")
    for file in tool.home.iterdir():
        file.unlink()
    tool.home.rmdir()
    tool.home.write_text("")
    path = tool.answer("")
    assert "Only the versions in the workspace are known." in tool("restore", "second").stderr
    assert path.read_text() == "pass"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--attempt", "7"], "There is no version 7 of second: they go from 1 to 1."),
        ([], "is the same as the present file"),
        (["--attempt", "1", "--list"], "exclude each other"),
        (["--json"], "--json goes with --list"),
    ],
)
def test_restore_refuses_what_is_not_there(tool, arguments, problem):
    """Each impossible wish has its sentence."""
    tool.answer("pass")
    tool("grade", "second")
    assert problem in tool("restore", "second", *arguments, code=2).stderr


def test_restore_before_anything(tool):
    """Without any version the learner reads how one comes about."""
    assert "No earlier version of second has been kept yet." in tool("restore", "second", code=2).stderr


def test_doctor_tells_what_holds_and_what_a_gap_means(tool):
    """Layers that hold, layers that do not and what that means, and where everything lies."""
    output = tool("doctor", COLUMNS="400").stdout
    assert "✓ process: an answer runs in a process of its own" in output
    assert "○ landlock: not here: an answer that goes looking can read your files" in output
    assert "the self-test could: can read files outside the allow-list" in output
    assert f"history: {tool.home / 'history.db'}, sound, 0 attempts" in output
    tool.answer("pass")
    tool("grade", "second")
    assert ", sound, 1 attempt\n" in tool("doctor", COLUMNS="400").stdout
    assert f"workspace: {tool.workspace}, made by the first `kata start`" in output


def test_doctor_as_json(tool):
    """--json prints one document with what the probe found."""
    document = json.loads(tool("doctor", "--json").stdout)
    assert document["grading"] == tool.driver.PROBE
    assert document["state"] == {"path": str(tool.home / "history.db"), "problems": [], "attempts": 0}
    assert document["workspace"] == {"path": str(tool.workspace), "exists": False, "problem": ""}
    assert document.keys() == {"schema", "kata", "python", "platform", "error", "grading", "state", "workspace"}


def test_doctor_where_nothing_can_be_graded(tool, monkeypatch):
    """A grader that does not start is told in a sentence, and ends with 3."""

    def broken(_session, _lang):
        raise GraderFailed("the server could not start: no torch", "Install torch.")

    monkeypatch.setattr(tool.driver.Session, "probe", broken)
    output = tool("doctor", COLUMNS="400", code=3).stdout
    assert "No answer can be graded here: the server could not start: no torch. Install torch." in output


def test_doctor_with_a_history_that_cannot_be_used(tool):
    """A history that cannot be used is named and ends with 3."""
    tool.home.write_text("")
    assert "a file is in the place of a folder" in tool("doctor", COLUMNS="400", code=3).stdout
