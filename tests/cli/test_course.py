"""list, start, status, and the tool as a whole."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from grader import __version__, catalog
from grader.cli import COMMANDS
from grader.cli.help import speak
from grader.text import cells


def test_list_shows_the_course_in_order(tool):
    """Katas stand under their track, in order, with the next one named."""
    output = tool("list").stdout
    first = [line.split()[0] for line in output.splitlines() if line.startswith("  ")]
    assert first == ["first-one", "second", "third"]
    assert "after second" in next(line for line in output.splitlines() if " third " in line)
    assert (
        output.index("1 · One head") < output.index("second") < output.index("2 · Many heads") < output.index("third")
    )
    assert "→ `kata start first-one`" in output


def test_a_kata_that_continues_another(tool):
    """Its file begins with the passed answer to that kata; `kata reset` puts the same beginning in its place."""
    toml = tool.content / "katas" / "third" / "kata.toml"
    toml.write_text(toml.read_text() + 'continues = "second"\n')
    tool("start", "second")
    (tool.workspace / "second.py").write_text("# pass\n")
    tool("grade", "second")
    tool("start", "third")
    beginning = (tool.workspace / "third.py").read_text()
    assert beginning == "# pass\n\n\n" + (tool.content / "katas" / "third" / "stub.py").read_text()
    (tool.workspace / "third.py").write_text("# mine\n")
    tool("reset", "third")
    assert (tool.workspace / "third.py").read_text() == beginning


def test_list_of_one_track(tool):
    """--track leaves the other tracks out, an impossible one is wrong use."""
    assert "first-one" not in tool("list", "--track", "2").stdout.replace("start first-one", "")
    tool("list", "--track", "9", code=2)


def test_list_as_json(tool):
    """--json prints one document with the fields that a script needs."""
    document = json.loads(tool("list", "--json").stdout)
    assert document["schema"] == 1
    assert document["current"] is None
    assert document["next"] == "first-one"
    assert document["katas"][1] == {
        "id": "second",
        "title": "Second",
        "track": 1,
        "order": 20,
        "difficulty": 2,
        "minutes": 15,
        "needs": ["first-one"],
        "tags": ["attention"],
        "passed": False,
        "attempts": 0,
        "best": None,
        "last": None,
        "hints": 0,
        "gave_up": False,
        "debug": None,
    }


def test_list_marks_what_is_passed(tool):
    """A passed kata has its mark, and the next one is named."""
    tool.answer("pass", "first_one.py")
    tool("grade", "first-one")
    output = tool("list").stdout
    assert "✓ first-one" in output.replace("  ", " ")
    assert "→ `kata start second`" in output
    assert "1 of 3 passed" in output


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [20, 40, 56, 60, 76, 80, 89, 90, 100, 120])
def test_list_fits_the_terminal(tool, course, width, lang):
    """No line of the whole course is wider than a terminal of forty columns and more, also once some are passed."""
    tool.answer("pass", "masked_softmax.py")
    tool.answer("fail", "mha.py")
    tool("grade", "masked-softmax")
    tool("grade", "mha", code=1)
    page = tool("list", COLUMNS=str(width), KATA_LANG=lang, LANGUAGE="").stdout
    speak(["--lang", "en"])
    assert max(map(cells, page.splitlines())) <= max(width, 40)
    assert all(kata_id in page for kata_id in course)


@pytest.mark.parametrize("width", [76, 80, 100])
def test_list_says_what_a_kata_builds_on(tool, course, width):
    """What is open before a kata is said beside it, cut after a name where there is no room for all."""
    rows = {line.split()[0]: line for line in tool("list", COLUMNS=str(width)).stdout.splitlines() if "    " in line}
    for kata in course.values():
        assert not kata.needs or "after" in rows[kata.id], rows[kata.id]
        said = rows[kata.id].partition("after ")[2].removesuffix(", …")
        assert not said or set(said.split(", ")) <= set(kata.needs)


@pytest.fixture
def course(monkeypatch):
    """Return the katas of the course in the place of the made-up ones."""
    monkeypatch.setattr(catalog, "content_root", lambda: Path(catalog.__file__).parent.parent)
    return catalog.katas()


def test_start_writes_the_stub_and_shows_the_task(tool):
    """The stub is in the workspace, the kata is current, the task and the next step are shown."""
    output = tool("start", "second").stdout
    assert (tool.workspace / "second.py").read_text() == 'def second():\n    raise NotImplementedError("your turn")\n'
    assert "The task." in output
    assert "workspace/second.py is written." in output
    assert "`kata grade`" in output
    assert json.loads(tool("list", "--json").stdout)["current"] == "second"


def test_start_never_overwrites(tool):
    """A file that is there stays, and the learner is told so."""
    path = tool.answer("mine")
    assert "is already there and stays as it is" in tool("start", "second").stdout
    assert path.read_text() == "mine"


def test_start_tells_what_a_kata_builds_on(tool):
    """Open needs are named, and the kata starts all the same."""
    output = tool("start", "second").stdout
    assert "second builds on first-one, which you have not passed yet." in output


def test_start_in_chinese(tool):
    """KATA_LANG, --lang and the locale choose the language of the task."""
    assert "题目" in tool("--lang", "zh", "start", "second").stdout
    assert "题目" in tool("start", "second", KATA_LANG="zh_CN").stdout
    assert "题目" in tool("start", "second", LANG="zh_CN.UTF-8").stdout
    assert "The task." in tool("start", "second", LANG="zh_CN.UTF-8", LC_ALL="C").stdout
    tool("--lang", "fr", "list", code=2)


def test_the_task_again(tool):
    """`kata show` shows the task of the current kata, or of one that is named; `kata start` says so."""
    assert "`kata show` shows the task again." in tool("start", "second").stdout
    assert tool("show").stdout.endswith("The task.\n")
    assert "题目。" in tool("--lang", "zh", "show", "third").stdout
    assert "There is no kata 'secnd'" in tool("show", "secnd", code=2).stderr


def test_help_on_rules_and_commands(tool):
    """`kata help` has the rules of all katas, the pages of commands, and a sentence for what it does not have."""
    assert "Nothing is modified." in tool("help", "rules").stdout
    assert "什么都不改动。" in tool("--lang", "zh", "help", "rules").stdout
    assert tool("help", "grade").stdout == tool("grade", "--help").stdout
    assert tool("help").stdout == tool("--help").stdout
    assert "There is no help on 'rulez'" in tool("help", "rulez", code=2).stderr


def test_start_opens_an_editor(tool, tmp_path):
    """--edit hands the file to $EDITOR."""
    editor = tmp_path / "editor.py"
    editor.write_text("import sys\nopen(sys.argv[1], 'a').write('# edited\\n')\n")
    tool("start", "second", "--edit", VISUAL="", EDITOR=f"{sys.executable} {editor}")
    assert (tool.workspace / "second.py").read_text().endswith("# edited\n")


def test_unknown_kata_gets_a_suggestion(tool):
    """A mistyped name ends with 2, a suggestion and the way to the help."""
    error = tool("start", "secnd", code=2).stderr
    assert "There is no kata 'secnd'." in error
    assert "Did you mean second?" in error
    assert "Try 'kata start --help' for help." in error
    assert not tool.workspace.exists()


def test_unknown_command_gets_a_suggestion(tool):
    """A mistyped command ends with 2 and a suggestion."""
    assert "Did you mean start" in tool("strat", code=2).stderr
    assert "Did you mean grade workspace/first.py?" in tool("workspace/first.py", code=2, COLUMNS="100").stderr


def test_names_are_understood_as_files_are_called(tool):
    """The name of the file is as good as the id."""
    tool("start", "first_one.py")
    assert (tool.workspace / "first_one.py").exists()


def test_the_workspace_can_be_elsewhere(tool, tmp_path):
    """--workspace and KATA_WORKSPACE choose the folder."""
    tool("--workspace", str(tmp_path / "a"), "start", "second")
    tool("start", "second", KATA_WORKSPACE=str(tmp_path / "b"))
    assert (tmp_path / "a" / "second.py").exists()
    assert (tmp_path / "b" / "second.py").exists()
    assert not tool.workspace.exists()


def test_start_in_a_folder_that_is_a_file(tool):
    """A workspace that cannot be made ends in a sentence, not a traceback."""
    (tool.folder / "workspace").write_text("")
    result = tool("--workspace", "workspace/below", "start", "second", code=3)
    assert "Cannot write workspace/below/second.py: a file is in the place of a folder." in result.stderr


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_lists_the_commands_in_the_order_of_use(tool, option):
    """The help reads as a round is played."""
    lines = tool(option).stdout.partition("Commands:")[2].splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  ") and line.split()[0] in COMMANDS]
    assert names == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(tool, command):
    """Each help page shows how its command is typed."""
    assert f"  kata {command}" in tool(command, "--help").stdout.partition("Example")[2]


def test_version(tool):
    """--version names the tool, its version and the distribution."""
    assert tool("--version").stdout == f"kata {__version__} (attention-kata)\n"


def test_status_before_anything(tool):
    """Without a history there is a next step."""
    assert "Nothing has been begun yet." in tool("status").stdout
    assert "not graded yet" in tool("status", "second").stdout


def test_status_over_time(tool):
    """The attempts of one kata, with best, hints and the versions that restore takes."""
    tool("start", "second")
    tool.answer("fail")
    tool("grade", code=1)
    tool("hint")
    tool.answer("pass")
    tool("grade")
    output = tool("status", "second").stdout
    assert "best 2/2  ▃█" in output
    assert "1 hint taken" in output
    document = json.loads(tool("status", "second", "--json").stdout)
    assert [(row["verdict"], row["passed"], row["total"], row["version"]) for row in document["gradings"]] == [
        ("failed", 1, 3, 1),
        ("passed", 2, 2, 2),
    ]
    assert document["best"] == {"passed": 2, "total": 2}
    assert document["hints"] == 1
    assert document["started"] is not None


@pytest.mark.parametrize("width", [40, 60, 80])
def test_status_never_cuts_a_name(tool, course, width):
    """Debug rounds and long ids, too: the words after an id go to the next line."""
    for kata_id in ("positional-encoding", "kernel-regression"):
        tool("start", kata_id, "--debug")
        tool("hint", kata_id)
    lines = tool("status", COLUMNS=str(width)).stdout.splitlines()
    text = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= width
    assert "…" not in text
    assert text.count("positional-encoding") == text.count("kernel-regression") == 2
    assert text.count("--debug (open)") == 2 or text.count("--debug") == text.count("(open)") == 2


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_status_cuts_no_number(tool, course, lang):
    """At 60 columns the last column has its whole head, and its numbers."""
    for kata_id in ("positional-encoding", "mha"):
        tool("start", kata_id, "--debug")
        tool("hint", kata_id, "--debug")
        tool("grade", kata_id, "--debug", code=1)
    with sqlite3.connect(tool.home / "history.db") as db:
        db.execute("UPDATE attempts SET passed = 285, total = 325")
    db.close()
    page = tool("--lang", lang, "status", COLUMNS="60").stdout
    assert f" {'hints' if lang == 'en' else '提示'}" in page
    rows = [line for line in page.splitlines() if "positional-encoding" in line or " mha " in line]
    assert [row.split()[-1] for row in rows] == ["1", "1"]


def test_status_overview(tool):
    """Without a name every begun kata has its line."""
    tool.answer("fail")
    tool("grade", "second", code=1)
    assert "second" in tool("status").stdout
    assert json.loads(tool("status", "--json").stdout)["katas"][0]["attempts"] == 1


def test_an_error_in_a_kata_names_file_and_key(tool):
    """A kata.toml that breaks the rules is named with its key."""
    file = tool.content / "katas" / "third" / "kata.toml"
    file.write_text(file.read_text().replace("minutes = 15", 'minutes = "long"'))
    error = tool("list", code=3).stderr
    assert str(file) in error
    assert "minutes: must be a whole number" in error


def test_a_bug_of_the_tool_is_written_down(tool, monkeypatch):
    """An unexpected error shows no traceback but where it can be read."""
    monkeypatch.setattr("grader.catalog.katas", lambda: 1 / 0)
    error = tool("list", code=3).stderr
    assert "kata itself failed (ZeroDivisionError: division by zero)" in error
    (crash,) = tool.home.glob("crash-*.txt")
    assert "Traceback" in crash.read_text()


@pytest.mark.usefixtures("tool")
def test_commands_that_do_not_grade_import_little():
    """Neither torch nor pytest nor, before anything was passed, a scheduler; in a pipe no parser of Markdown."""
    code = (
        "import sys; from grader.cli import main\n"
        "for words in ([], ['today'], ['list'], ['list', '--json'], ['status'], ['start', '-h'], ['grade', '-h']):\n"
        "    main(words, standalone_mode=False, prog_name='kata')\n"
        "heavy = {'torch', 'pytest', 'numpy', 'pygments', 'rich.markdown', 'rich.live', 'fsrs'} & set(sys.modules)\n"
        "sys.exit(repr(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_error_of_use_is_broken_at_words(tool):
    """Click leaves its sentences to the terminal, which would break them anywhere."""
    for asked in (("grade", "--nonsense"), ("grade", "--seed", "many"), ("no-such-command-at-all",)):
        whole = tool(*asked, code=2, COLUMNS="200").stderr
        narrow = tool(*asked, code=2, COLUMNS="40").stderr
        assert max(map(len, narrow.partition("\n\n")[2].splitlines())) <= 40  # behind how it is called
        assert narrow.split() == whole.split()
