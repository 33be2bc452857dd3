"""`%%kata` and `%kata`: a cell is saved, kept, graded and never executed."""

import json

import pytest

from grader import ipython, language


@pytest.fixture(autouse=True)
def _english_again():
    """A magic speaks the reader's language, in this process."""
    yield
    language.use("en")


def test_a_cell_is_saved_and_graded(tool):
    """The verdict comes as a page and as text; the attempt is recorded and the version kept."""
    bundle = ipython.answered("second", "fail: cause\n<b>\n")
    path = tool.workspace / "second.py"
    assert path.read_text() == "fail: cause\n<b>\n"
    assert "mask over heads" in bundle["text/html"]
    assert "&lt;b&gt;" in bundle["text/html"]
    assert bundle["text/html"].startswith('<div class="kata" lang="en">')
    assert "✗ second: 1 of 3 cases pass" in bundle["text/plain"]
    assert tool.kept() == ["fail: cause\n<b>\n"]
    assert json.loads(tool("status", "second", "--json").stdout)["attempts"] == 1
    assert "second passed" in ipython.answered("second", "pass")["text/plain"]
    assert tool.kept() == ["fail: cause\n<b>\n", "pass\n"]


def test_what_another_editor_wrote_is_kept_and_said(tool):
    """A cell takes the place of the file; the stub alone is nobody's work."""
    tool("start", "second")
    assert "is now" not in ipython.answered("second", "fail")["text/plain"]
    tool.answer("by another editor")
    told = ipython.answered("second", "fail")["text/plain"]
    assert "What was in workspace/second.py is now workspace/.attempts/second/" in told
    assert "by another editor" in tool.kept()
    assert "is now" not in ipython.answered("second", "fail again")["text/plain"]


def test_without_a_name_the_current_kata(tool):
    """As in every command; options are those of a grading."""
    ipython.answered("second", "fail")
    ipython.answered("--case rows --seed 5", "fail")
    assert (tool.driver.GRADED[-1].case, tool.driver.GRADED[-1].seed) == ("rows", 5)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "There is no kata 'nonsense'"),
        ("", "No kata has been started yet"),
        ("second --nonsense", "--nonsense"),
        ("second 'half", "Error: "),
    ],
)
def test_wrong_use_is_a_sentence(tool, line, said):
    """No traceback, and nothing is written."""
    (text,) = ipython.answered(line, "x = 1").values()
    assert said in text
    assert not tool.workspace.exists()


def test_an_error_of_the_grader_says_whose_it_is(tool):
    """It is not the answer."""
    assert "The grader itself failed, not your answer." in ipython.answered("second", "error")["text/plain"]


def test_a_name_of_another_cell_is_named(tool, monkeypatch):
    """A cell needs its helpers in itself, and is told which one it misses."""
    missing = tool.driver.case("core", "smallest", "failed", message="NameError: name 'helper' is not defined")
    monkeypatch.setattr(tool.driver, "FAILING", [missing])
    bundle = ipython.answered("second", "fail", {"helper": 1})
    assert "helper is defined in another cell" in bundle["text/plain"]
    assert "helper is defined in another cell" in bundle["text/html"]
    assert "another cell" not in ipython.answered("second", "fail", {"other": 1})["text/plain"]


def test_questions(tool):
    """The task, and the next hint, which is noted as ever; anything else says what there is."""
    assert ipython.asked("show second")["text/markdown"] == "# Second\n\nThe task.\n"
    assert "Where to start" in ipython.asked("hint second")["text/plain"]
    assert "Further" in ipython.asked("hint")["text/plain"]
    assert "`!kata ...`" in ipython.asked("dance")["text/plain"]
    assert "There is no kata" in ipython.asked("show nonsense")["text/plain"]


def test_it_speaks_the_reader_s_language(tool, monkeypatch):
    """KATA_LANG or the locale."""
    monkeypatch.setenv("KATA_LANG", "zh")
    bundle = ipython.answered("second", "fail")
    assert 'lang="zh-Hans"' in bundle["text/html"]
    assert "通过" in bundle["text/plain"]


def test_a_real_shell_does_not_execute_the_cell(tool):
    """IPython hands the cell over and runs nothing of it."""
    shells = pytest.importorskip("IPython.core.interactiveshell")
    shell = shells.InteractiveShell.instance()
    try:
        shell.run_line_magic("load_ext", "grader.ipython")
        shown = []
        shell.display_pub.publish = lambda data, **_more: shown.append(data)
        result = shell.run_cell("%%kata second\nimport os\nos._exit(1)  # fail\n")
        assert result.success
        assert "text/html" in shown[0]
        assert "os" not in shell.user_ns or shell.user_ns["os"] is None
        shell.run_cell("%kata show second")
        assert "The task." in shown[1]["text/plain"]
    finally:
        shells.InteractiveShell.clear_instance()


def test_a_notebook_gives_nothing_away_in_a_mock_interview(tool):
    """A cell is neither saved nor graded, and there is no hint."""
    tool("mock", "second", "--stages", "1")
    for bundle in (ipython.answered("second", "fail"), ipython.asked("hint second")):
        assert "A mock interview" in bundle["text/plain"]
    assert not (tool.workspace / "second.py").exists()
