"""mock: a timed round, with a clock that goes on, nobody who helps, and a score card."""

import json
import os
import re
import sqlite3
from datetime import datetime, timedelta

import pytest
from click.testing import CliRunner

from grader import catalog
from grader.cli import main
from grader.practice.mock import drawn


def typed(tool, *arguments: str, lines: str = "", code: int = 0) -> str:
    """Run a command that reads lines."""
    result = CliRunner().invoke(main, arguments, prog_name="kata", input=lines)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.stdout


def earlier(tool, minutes: float) -> None:
    """Let the mock interview have begun so many minutes earlier, with all that was done in it."""
    db = sqlite3.connect(tool.home / "history.db")
    for table in ("mocks", "mock_steps", "starts"):
        for number, at in db.execute(f"SELECT id, at FROM {table}").fetchall():
            moved = (datetime.fromisoformat(at) - timedelta(minutes=minutes)).isoformat(timespec="microseconds")
            db.execute(f"UPDATE {table} SET at = ? WHERE id = ?", (moved, number))
    db.commit()
    db.close()
    for path in tool.workspace.glob("*_mock.py"):
        at = path.stat().st_mtime - 60 * minutes
        os.utime(path, (at, at))


def card(tool, number: int = 1) -> dict:
    """Return a score card."""
    return json.loads(tool("mock", "--card", str(number), "--json").stdout)


def test_three_stages_passed_in_time(tool):
    """From empty stubs along what they need, three questions, a score card as Markdown and JSON."""
    page = typed(tool, "mock", "third")
    assert "mock interview · stage 1 of 3: first-one · 4" in page
    for number, name in enumerate(("first_one", "second", "third"), 1):
        stub = (tool.content / "katas" / name.replace("_", "-") / "stub.py").read_text()
        assert (tool.workspace / f"{name}_mock.py").read_text() == stub
        tool.answer("# pass\n", f"{name}_mock.py")
        page = typed(tool, "mock", "--submit", lines="\n3\n\n4\n\n1\n" if number == 3 else "")
    assert "3 of 3 stages passed in time" in page
    assert re.findall(r"^(\d/\d) · ", page, re.MULTILINE) == ["1/3", "2/3", "3/3"]
    found = card(tool)
    assert [(row["kata"], row["in_time"], row["passed"]) for row in found["stages"]] == [
        ("first-one", True, True),
        ("second", True, True),
        ("third", True, True),
    ]
    assert [one["rating"] for one in found["questions"]] == [3, 4, 1]
    (page,) = (tool.workspace / "mocks").glob("*.md")
    assert "**3 of 3 stages passed in time**" in page.read_text()
    assert json.loads(page.with_suffix(".json").read_text()) == found
    assert "hire" not in page.read_text()
    assert "3 of 3" in tool("mock", "--list").stdout
    assert len(json.loads(tool("review", "--list", "--json").stdout)["reviews"]) == 3


def test_none_passed_in_time(tool):
    """What was there at zero counts; a pass in overtime is told as one, a stage that nobody saw as not reached."""
    typed(tool, "mock", "second", "third", "--minutes", "20", "--feedback", "count")
    tool.answer("# fail\n", "second_mock.py")
    earlier(tool, 25)
    assert "overtime 5:0" in typed(tool, "mock")
    tool.answer("# pass, too late\n", "second_mock.py")
    assert "stage 2 of 2: third" in typed(tool, "mock", "--submit")
    assert "The interview is over" in typed(tool, "mock", "--end")
    found = card(tool)
    assert [(row["in_time"], row["passed"], row["reached"]) for row in found["stages"]] == [
        (False, True, True),
        (False, False, True),
    ]
    assert found["stages_in_time"] == 0
    assert found["overtime_minutes"] >= 5
    page = tool("mock", "--card", "1").stdout
    assert "passed in overtime" in page
    assert "0 of 2 stages passed in time" in page


def test_what_the_file_held_at_zero_counts(tool):
    """Where it was kept before: what was written over it later is overtime."""
    typed(tool, "mock", "second", "--stages", "1")
    tool.answer("# pass in time\n", "second_mock.py")
    assert "is kept" in tool("grade").stdout
    earlier(tool, 14)
    (kept,) = (tool.workspace / ".attempts" / "second.mock").glob("*.py")
    at = datetime.strptime(kept.name.split("-")[0], "%Y%m%dT%H%M%S.%fZ") - timedelta(minutes=14)  # noqa: DTZ007
    kept.rename(kept.with_name(f"{at:%Y%m%dT%H%M%S.%fZ}-{kept.name.split('-')[1]}"))
    earlier(tool, 2)
    tool.answer("# fail in overtime\n", "second_mock.py")
    typed(tool, "mock", "--submit")
    (row,) = card(tool)["stages"]
    assert (row["in_time"], row["passed"]) == (True, True)


def test_it_goes_on_where_it_was(tool):
    """Nothing is overwritten, the clock goes on, and a second one does not begin."""
    typed(tool, "mock", "second", "--stages", "1")
    tool.answer("# half\n", "second_mock.py")
    earlier(tool, 3)
    page = typed(tool, "mock")
    assert re.search(r"1[12]:\d\d left", page)
    assert (tool.workspace / "second_mock.py").read_text() == "# half\n"
    assert re.search(r"`kata mock` goes on with the interview: 1[12]:\d\d left", tool().stdout)
    assert "runs already" in tool("mock", "third", code=2).output
    typed(tool, "mock", "--end", lines="\n2\n")
    assert [one["rating"] for one in card(tool)["questions"]] == [2]
    assert "No mock interview runs" in tool("mock", "--end", code=2).output


def test_nobody_helps_meanwhile(tool):
    """No counts, names or hints: not of the stage's file, and not of a copy of it elsewhere."""
    tool.passes("second")
    typed(tool, "mock", "second", "--stages", "1")
    tool.answer("# fail\n", "second_mock.py")
    graded = len(tool.driver.GRADED)
    page = tool("grade").stdout
    assert "cases" not in page
    for command in (
        ("grade", "second"),
        ("grade", "--json"),
        ("grade", "--case", "core"),
        ("grade", "--all"),
        ("grade", "--file", "workspace/second_mock.py"),
        ("hint",),
        ("hint", "second"),
        ("solution", "second"),
        ("solution", "--give-up"),
        ("repro", "second"),
        ("watch", "second"),
        ("start", "second"),
        ("start", "second", "--debug"),
        ("review", "second"),
    ):
        result = (
            tool(*command, code=2) if command != ("grade", "--file", "workspace/second_mock.py") else tool(*command)
        )
        assert "A mock interview" in result.output or "is kept" in result.output, command
    assert len(tool.driver.GRADED) == graded
    assert "The task." in tool("show", "second").stdout
    assert "not graded yet" in tool("status", "workspace/second_mock.py").stdout
    assert "not graded" in tool("restore", "workspace/second_mock.py", "--list").stdout
    typed(tool, "mock", "--end")
    tool("hint", "second")


def test_the_file_of_the_stage_stays_the_current_one(tool):
    """What is refused does not take its place; what may be begun does, until `kata mock` goes on."""
    tool.passes("second")
    tool("review", "second")
    typed(tool, "mock", "second", "--stages", "1")
    for command in (("hint", "second"), ("solution", "second"), ("repro", "second"), ("review",)):
        tool(*command, code=2)
        assert "second_mock.py is kept" in tool("grade").stdout
    tool("start", "third")
    page = tool("today").stdout
    assert re.findall("→.*", page) == re.findall("→ `kata mock` goes on with the interview: 1.:.. left.", page) != []
    typed(tool, "mock")
    assert "second_mock.py is kept" in tool("grade").stdout


def test_hints_after_a_mock_interview(tool):
    """The page of a stage names its file: the kata's own file was not begun, and does not become the current one."""
    typed(tool, "mock", "second", "--stages", "1")
    tool.answer("# fail\n", "second_mock.py")
    assert "→ `kata hint second_mock.py` goes a step further." in typed(tool, "mock", "--submit")
    assert "→ `kata hint second_mock.py` goes a step further." in tool("grade", code=1).stdout
    assert "second_mock.py` shows the next one" in tool("hint", "second_mock.py").stdout
    tool("hint", "second")
    assert "second_mock.py" in tool("grade", code=1).stdout
    assert "second_mock.py" in tool().stdout


def test_hints_for_a_stage_with_a_planted_mistake(tool):
    """They are about the mistake, not about an empty stub."""
    typed(tool, "mock", "third", "--debug", "--stages", "1")
    page = typed(tool, "mock", "--end")
    assert "→ `kata hint third_mock.py` goes a step further." in page
    page = tool("hint", "third_mock.py").stdout
    assert "Planted mistake 1 of 1" in page
    assert "→ `kata hint third_mock.py` shows the next one." in page
    assert "`kata solution third_mock.py --give-up`" in tool("hint").stdout


def test_a_watch_from_before_grades_no_more(tool, terminal):
    """A save into a copy is not graded while the interview runs."""
    tool("start", "second")
    screen = terminal(tool.process, "watch", "second", columns=100)
    screen.until("waiting for your first save")
    typed(tool, "mock", "second", "--stages", "1")
    tool.answer("# fail\n")
    screen.until("A mock interview that asks second runs")
    screen.press("q")
    assert screen.end() == 0
    assert "✗" not in screen.log


def test_no_kata_is_asked_twice(tool):
    """Both stages would have the same file."""
    assert "second is asked twice." in tool("mock", "second", "third", "second", code=2).output
    assert "No mock interview runs" in tool("mock", "--end", code=2).output


def test_feedback_that_was_agreed(tool):
    """How many cases pass, or the page; neither is in the history until the end."""
    typed(tool, "mock", "second", "--stages", "1", "--feedback", "count")
    tool.answer("# fail\n", "second_mock.py")
    page = tool("grade", code=1).stdout
    assert "1 of 3 cases pass." in page
    assert "mask" not in page
    typed(tool, "mock", "--end")
    typed(tool, "mock", "second", "--stages", "1", "--feedback", "full")
    tool.answer("# fail\n", "second_mock.py")
    assert "unsqueeze" in tool("grade", code=1).stdout
    tool("hint", code=2)
    typed(tool, "mock", "--end")
    assert [row.get("mock") for row in json.loads(tool("mock", "--list", "--json").stdout)["mocks"]] == [1, 2]


def test_a_debug_round_with_its_extension(tool):
    """The planted file is repaired first; what builds on it comes after."""
    typed(tool, "mock", "third", "--debug")
    planted = (tool.workspace / "third_mock.py").read_text()
    assert "def third" in planted
    assert "NotImplementedError" not in planted
    tool.answer("# pass\n", "third_mock.py")
    typed(tool, "mock", "--end")
    assert card(tool)["stages"][0]["debug"]
    assert json.loads(tool("review", "--list", "--json").stdout)["reviews"] == []


def test_what_was_passed_in_a_mock_interview_comes_back(tool):
    """It is due like what was passed elsewhere, and can be reviewed; the course does not count it."""
    typed(tool, "mock", "second", "--stages", "1")
    tool.answer("# pass\n", "second_mock.py")
    typed(tool, "mock", "--submit")
    tool.days_later(30)
    assert "0 of 3 passed" in tool().stdout
    assert "second_review.py is written" in tool("review").stdout


def test_chinese(tool):
    """From the task to the score card."""
    typed(tool, "--lang", "zh", "mock", "second", "--stages", "1")
    tool.answer("# pass\n", "second_mock.py")
    page = typed(tool, "--lang", "zh", "mock", "--submit", lines="\n3\n")
    tool("--lang", "en", "list")
    assert "按时通过" in page
    assert "stages" not in page


def test_on_a_terminal(tool, terminal):
    """The clock stays in view; q leaves, s hands in; a killed terminal loses nothing."""
    screen = terminal(tool.process, "mock", "second", "--stages", "1")
    screen.until("left · s hand in")
    screen.process.kill()
    tool.answer("# pass\n", "second_mock.py")
    screen = terminal(tool.process, "mock", columns=60)
    screen.until("left · s hand in")
    screen.press("q")
    screen.until("takes up where it was")
    assert screen.end() == 0
    assert screen.modes() == screen.modes_before
    screen = terminal(tool.process, "mock")
    screen.until("left · s hand in")
    screen.press("\x03")
    screen.until("takes up where it was")
    assert screen.end() == 130
    screen = terminal(tool.process, "mock")
    screen.until("left · s hand in")
    screen.press("s")
    screen.until("press Enter")
    screen.press("q\n")
    screen.until("The score card is")
    assert screen.end() == 0
    assert card(tool)["stages_in_time"] == 1


def test_ctrl_c_at_a_question(tool, terminal):
    """All is handed in: what is left is said, and no clock."""
    typed(tool, "mock", "second", "--stages", "1")
    screen = terminal(tool.process, "mock", "--submit")
    screen.until("press Enter")
    screen.press("\x03")
    screen.until("asks the last questions")
    assert screen.end() == 130
    assert "The clock" not in screen.log
    page = tool().stdout
    assert "→ All stages are handed in; `kata mock` asks the last questions and shows the results." in page
    assert "left" not in page


def test_the_clock_runs_out_in_view(tool, terminal):
    """It says so, and what follows is overtime."""
    typed(tool, "mock", "second", "--stages", "1", "--minutes", "1")
    earlier(tool, 0.95)
    screen = terminal(tool.process, "mock")
    screen.until("Time is over")
    screen.until("overtime 0:0")
    screen.press("q")
    assert screen.end() == 0


@pytest.mark.parametrize("seed", range(20))
def test_what_is_drawn_builds_on_itself(seed):
    """Along needs, within the time, from what was passed."""
    katas = catalog.katas()
    plan = drawn([], set(katas), minutes=None, debug=False, stages=3, feedback="none", seed=seed)
    assert 1 <= len(plan.stages) <= 3
    assert plan.minutes == sum(stage.minutes for stage in plan.stages)
    assert plan.minutes <= 60 or len(plan.stages) == 1
    for one, other in zip(plan.stages, plan.stages[1:], strict=False):
        assert one.kata in katas[other.kata].needs
    debugging = drawn(["mha"], (), minutes=40, debug=True, stages=3, feedback="none", seed=seed)
    first, second = debugging.stages
    assert (first.kata, first.debug, second.debug, debugging.minutes) == ("mha", True, False, 40)
    assert "mha" in katas[second.kata].needs
    chosen = drawn(["sdpa", "mha", "gqa"], (), minutes=None, debug=False, stages=3, feedback="none", seed=seed)
    assert [stage.kata for stage in chosen.stages] == ["sdpa", "mha", "gqa"]
