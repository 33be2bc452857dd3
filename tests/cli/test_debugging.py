"""Debug rounds: begun, graded without a diagnosis, hinted at, repaired or given up, revealed."""

import json
import os
import sqlite3
import time
from pathlib import Path

import pytest

ALL = ("--debug", "--bugs", "2", "--seed", "1")
PLANTED = """\
def third(x):
    total = 2 * x
    rest = 5
    return total + rest
"""


def repair(path: Path) -> None:
    """Repair the planted file; the word tells the made-up grader to let it pass."""
    path.write_text(path.read_text().replace("2 * x", "3 * x").replace("rest = 5", "rest = 6") + "# pass\n")


@pytest.fixture
def planted(tool):
    """Return the file of a debug round with both mistakes."""
    tool("start", "third", *ALL)
    return tool.workspace / "third_debug.py"


def test_a_debug_round_begins(tool, planted):
    """The planted file is plain code, the task is shown, and nothing says what was planted."""
    assert planted.read_text() == PLANTED
    output = tool("start", "third", "--debug").stdout
    assert "The task." in output
    assert "It is the model answer with 2 mistakes planted in it (seed 1)." in output
    assert "`kata grade`" in output
    assert "taken twice" not in output
    assert not (tool.workspace / "third.py").exists()


def test_the_answer_stays_as_it_is(tool):
    """A debug round has a file of its own."""
    path = tool.answer("mine", "third.py")
    tool("start", "third", *ALL)
    assert path.read_text() == "mine"
    assert tool.kept("third") == []


def test_an_open_round_goes_on(tool, planted):
    """Starting it again changes nothing; a file that is gone comes back; other mistakes are refused."""
    planted.write_text("half repaired")
    assert "is already there and stays as it is" in tool("start", "third", "--debug").stdout
    assert planted.read_text() == "half repaired"
    planted.unlink()
    tool("start", "third", *ALL)
    assert planted.read_text() == PLANTED
    error = tool("start", "third", "--debug", "--seed", "2", code=2).stderr
    assert "A debug round of third is open: 2 planted mistakes, seed 1." in error
    assert "`kata solution third --debug --give-up` ends it." in error


def test_equal_seeds_give_equal_files(tool, tmp_path):
    """Kata, number and seed decide what is planted, in each folder and each history."""
    texts = set()
    for number in range(2):
        workspace = tmp_path / str(number)
        home = str(tmp_path / f"home{number}")
        tool("--workspace", str(workspace), "start", "third", "--debug", "--seed", "5", KATA_HOME=home)
        texts.add((workspace / "third_debug.py").read_text())
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("third", "--bugs", "2"), "--bugs and --seed go with --debug."),
        (("third", "--seed", "2"), "--bugs and --seed go with --debug."),
        (("third", "--debug", "--bugs", "0"), "--bugs"),
        (
            ("third", "--debug", "--bugs", "3"),
            "third has 2 mistakes that can be planted, at most 2 at once: 3 are too many.",
        ),
        (
            ("second", "--debug"),
            "second has 0 mistakes that can be planted, at most 0 at once: 1 are too many.",
        ),
    ],
)
def test_what_cannot_be_planted(tool, arguments, problem):
    """Impossible wishes have their sentence, and nothing is written."""
    assert problem in tool("start", *arguments, code=2).stderr
    assert not tool.workspace.exists()


def test_no_round_without_a_history(tool):
    """A file whose mistakes nobody would remember is not written."""
    tool.home.write_text("")
    assert "The history cannot be kept" in tool("start", "third", "--debug", code=3).stderr
    assert not tool.workspace.exists()


def test_a_failure_gives_facts_and_no_diagnosis(tool, planted):
    """Neither the page nor the document nor the history names a mistake before the repair."""
    output = tool("grade", code=1).stdout
    assert "✗ third --debug: 1 of 3 cases pass" in output
    assert "first wrong entry [0, 1, 0]: expected 0.2187" in output
    assert "3-D mask is broadcast" not in output
    assert "→ `kata hint third --debug`" in output
    document = json.loads(tool("grade", "--json", code=1).stdout)
    assert document["mistakes"] == []
    assert document["debug"] == {"seed": 1, "bugs": 2, "planted": None}
    assert document["file"] == "workspace/third_debug.py"
    with sqlite3.connect(tool.home / "history.db") as db:
        assert json.loads(db.execute("SELECT MAX(report) FROM attempts").fetchone()[0])["mistakes"] == []
    db.close()


def test_a_repair_reveals_what_was_planted(tool, planted):
    """Each mistake with its name, its explanation and its lines before and after, then the next step."""
    repair(planted)
    lines = tool("grade").stdout.splitlines()
    wanted = [
        "✓ third --debug passed: 2 cases in 0.21 s",
        "The 2 planted mistakes:",
        "1 · taken twice",
        "    This is what you get when it is taken twice.",
        "    line 2",
        "    - total = 2 * x",
        "    + total = 3 * x",
        "2 · five added",
        "    line 3",
        "    - rest = 5",
        "    + rest = math.prod([2, 3])",
        "→ `kata start third --debug` plants other mistakes.",
    ]
    assert [line for line in lines if line in wanted] == wanted
    (first, second) = json.loads(tool("grade", "--json").stdout)["debug"]["planted"]
    assert (first["id"], first["title"], first["explain"]) == (
        "doubled",
        "taken twice",
        "This is what you get when it is taken twice.",
    )
    assert second["changes"] == [{"line": 3, "planted": ["    rest = 5"], "sound": ["    rest = math.prod([2, 3])"]}]


def test_a_repair_is_no_pass_of_the_kata(tool, planted):
    """Who repairs the model answer has not written one; list and status tell the two apart."""
    assert "debug rounds: third (open)" in tool("list").stdout
    repair(planted)
    tool("grade")
    assert "debug rounds: third (repaired)" in tool("list").stdout
    document = json.loads(tool("list", "--json").stdout)
    assert (document["current"], document["debugging"]) == ("third", True)
    assert (document["katas"][2]["passed"], document["katas"][2]["debug"]) == (False, "repaired")
    assert "third --debug (repaired)" in tool("status").stdout
    document = json.loads(tool("status", "--json").stdout)
    assert document["katas"] == []
    assert [(row["id"], row["state"], row["attempts"]) for row in document["debug_rounds"]] == [
        ("third", "repaired", 1)
    ]
    assert "debug round: repaired" in tool("status", "third").stdout
    assert "not graded yet" in tool("status", "third").stdout
    assert json.loads(tool("status", "third", "--debug", "--json").stdout)["debug"] == {
        "state": "repaired",
        "seed": 1,
        "bugs": 2,
    }
    assert "✓ passed" in tool("status", "third", "--debug").stdout


def test_chosen_cases_reveal_nothing(tool, planted):
    """A pass of some cases is no repair."""
    repair(planted)
    output = tool("grade", "--case", "rows").stdout
    assert "taken twice" not in output
    assert "`kata grade third --debug` runs every case." in output
    assert json.loads(tool("list", "--json").stdout)["katas"][2]["debug"] == "open"


def test_the_next_round_keeps_the_repaired_file(tool, planted):
    """After a repair `start --debug` plants anew; the file that was repaired is kept and named."""
    repair(planted)
    repaired = planted.read_text()
    tool("grade")
    output = tool("start", "third", "--debug", "--bugs", "2").stdout
    assert "The older file is now workspace/.attempts/third.debug/" in output
    assert planted.read_text() == PLANTED
    assert tool.kept("third.debug") == [repaired]
    assert json.loads(tool("list", "--json").stdout)["katas"][2]["debug"] == "open"


def saved(path: Path, seconds: int) -> None:
    """Let a file be saved so many seconds from now."""
    os.utime(path, (time.time() + seconds, time.time() + seconds))


def test_grade_takes_what_was_worked_on_last(tool, planted):
    """What was started last, or which of answer and planted file was saved since then; a name means the answer."""
    mine = tool.answer("pass", "third.py")
    saved(mine, -60)
    assert "third --debug:" in tool("grade", code=1).stdout
    saved(mine, 60)
    assert "third passed" in tool("grade").stdout
    saved(planted, 120)
    assert "third --debug:" in tool("grade", code=1).stdout
    assert "third passed" in tool("grade", "third").stdout
    assert "third --debug:" in tool("grade", "third", "--debug", code=1).stdout
    for path in (mine, planted):
        saved(path, -60)
    tool("start", "third")
    assert "third passed" in tool("grade").stdout
    assert "third --debug:" in tool("grade", "--debug", code=1).stdout


def test_a_planted_file_elsewhere_is_known_by_its_name(tool, planted, tmp_path):
    """--file takes the debug round from the name of the file, or from --debug."""
    tool("start", "third")
    for name, arguments in {"third_debug.py": (), "other.py": ("third", "--debug")}.items():
        path = tmp_path / name
        path.write_text(planted.read_text())
        assert "third --debug:" in tool("grade", *arguments, "--file", str(path), code=1).stdout


def test_hints_go_from_a_nudge_to_the_name(tool, planted):
    """Two for each mistake; those that are repaired are left out, and in the end there is the solution."""
    assert "how often?" in tool("hint").stdout
    output = tool("hint").stdout
    assert "taken twice" in output
    assert "`kata hint third --debug` shows the next one." in output
    planted.write_text(planted.read_text().replace("2 * x", "3 * x"))
    assert "what is added?" in tool("hint", "third", "--debug").stdout
    output = tool("hint").stdout
    assert "five added" in output
    assert "`kata solution third --debug --give-up`" in output
    assert "These were all hints for what is still planted." in tool("hint").stdout
    assert json.loads(tool("status", "third", "--debug", "--json").stdout)["hints"] == 4


def test_a_hint_for_what_was_never_begun_leaves_the_round_the_current_one(tool, planted):
    """Nobody has turned to it yet."""
    assert "Where to start" in tool("hint", "second").stdout
    assert "third --debug" in tool().stdout
    assert "how often?" in tool("hint").stdout


def test_hints_skip_what_is_repaired(tool, planted):
    """The first hint is about a mistake that the file still has."""
    planted.write_text(planted.read_text().replace("2 * x", "3 * x"))
    assert "what is added?" in tool("hint").stdout


def test_the_planted_mistakes_wait_for_the_repair(tool, planted):
    """Before it they are refused with the two ways out; giving up shows them and is recorded."""
    error = tool("solution", code=2).stderr
    assert "What was planted in third is shown once you have repaired it." in error
    assert "--give-up" in error
    output = tool("solution", "third", "--debug", "--give-up").stdout
    assert "1 · taken twice" in output
    assert "debug rounds: third (given up)" in tool("list").stdout
    assert "2 · five added" in tool("solution", "third", "--debug").stdout
    repair(planted)
    assert "1 · taken twice" in tool("grade").stdout
    assert json.loads(tool("list", "--json").stdout)["katas"][2]["debug"] == "given up"


def test_the_difference_to_the_sound_file(tool, planted):
    """--diff leads from the learner's file to the repaired one."""
    lines = tool("solution", "--give-up", "--diff").stdout.splitlines()
    assert lines[:2] == ["--- workspace/third_debug.py", "+++ solution"]
    assert "-    total = 2 * x" in lines
    assert "+    total = 3 * x" in lines


def test_without_a_round_there_is_nothing_to_show(tool):
    """Each command says so, with the next step."""
    for arguments in (("hint", "third", "--debug"), ("solution", "third", "--debug")):
        error = tool(*arguments, code=2).stderr
        assert "No debug round of third is known here." in error
        assert "`kata start third --debug` begins one." in error
    assert "`kata start third --debug` begins it." in tool("grade", "third", "--debug", code=2).stderr


def test_reset_and_restore(tool, planted):
    """The same mistakes are planted again, and the file that was there comes back."""
    planted.write_text("mine")
    assert "Your file is now workspace/.attempts/third.debug/" in tool("reset", "third", "--debug").stdout
    assert planted.read_text() == PLANTED
    assert "is version 1 again" in tool("restore", "third", "--debug").stdout
    assert planted.read_text() == "mine"


def test_the_failing_call_of_a_debug_round(tool, planted):
    """`repro` takes the last failed attempt of the round."""
    tool("grade", code=1)
    assert "workspace/repro_third.py" in tool("repro").stdout
    assert "No attempt at third has failed" in tool("repro", "third", code=2).stderr


def test_a_file_whose_round_nobody_knows(tool, planted):
    """Without a history a planted file is graded all the same, without a diagnosis."""
    for file in tool.home.iterdir():
        file.unlink()
    document = json.loads(tool("grade", "third", "--debug", "--json", code=1).stdout)
    assert document["debug"] == {"seed": None, "bugs": None, "planted": None}
    assert document["mistakes"] == []


def test_a_kata_that_has_changed_since(tool, planted):
    """What is revealed is what was planted, whatever the bank says by now; a warning says that the kata has changed."""
    solution = tool.content / "solutions" / "third"
    (solution / "mistakes.toml").write_text("")
    (solution / "reference.py").write_text("def third(x):\n    return 3 * x + 6\n")
    result = tool("grade", code=1)
    assert "The model answer of third has changed since these mistakes were planted" in result.stderr
    assert "has changed since" in tool("start", "third", "--debug").stdout
    repair(planted)
    assert "1 · taken twice" in tool("grade").stdout


def test_a_debug_round_in_chinese(tool, planted):
    """Names and explanations follow the language."""
    repair(planted)
    output = tool("--lang", "zh", "grade").stdout
    assert "1 · 只乘了二" in output
    assert "只乘了两倍就会这样。" in output
