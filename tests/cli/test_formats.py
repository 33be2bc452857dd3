"""grade --format: on standard output or in a file, of one or of many, and what the exit codes say."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from grader.formats.lines import lines


def test_lines_are_what_an_editor_reads(tool):
    """One line a cause, with the path as it was typed; a pass has none."""
    path = tool.answer("fail: cause\n    then this\n")
    assert tool("grade", "second", "--format", "lines", code=1).stdout == (
        "workspace/second.py:2:5: error: mask over heads [mask-over-heads]\n"
    )
    path.write_text("pass")
    assert tool("grade", "second", "--format", "lines").stdout == ""


def test_lines_of_what_nobody_has_written():
    """One that says so; a case that is merely seen is told by what was seen, and by its own name."""
    stub = json.loads((Path(__file__).parent.parent / "golden" / "stub.json").read_text()) | {"kata": "masks"}
    source = "import torch\n\n\ndef padding_mask(token_ids):\n    raise NotImplementedError\n"
    assert lines(stub, source).endswith(
        ":4:1: error: nothing is written yet: the stub still raises NotImplementedError [file]\n"
    )
    (line,) = lines(stub | {"message": ""}, source).splitlines()
    assert "[seen]" not in line
    assert "not written yet" in line


def test_the_workspace_s_own_is_an_attempt(tool):
    """The form is how it is printed; everything else is as without it."""
    tool.answer("fail")
    tool("grade", "second", "--format", "github", "--exit-zero")
    assert json.loads(tool("status", "second", "--json").stdout)["attempts"] == 1
    assert tool.kept() == ["fail"]


def test_a_file_instead_of_standard_output(tool):
    """The file is whole or not there; standard output has one line, which names no mistake."""
    tool.answer("fail: cause")
    page = tool("grade", "second", "--format", "gradescope", "--output", "results.json", "--exit-zero").stdout
    assert page == "workspace/second.py: 1 of 3 cases pass; written to results.json.\n"
    text = (tool.folder / "results.json").read_text()
    assert json.loads(text)["tests"]
    assert "mask over heads" not in text
    tool("grade", "second", "--format", "gradescope", "--output", "results.json", "--explain", code=1)
    assert "broadcast over heads" in json.loads((tool.folder / "results.json").read_text())["output"]
    assert [path.name for path in tool.folder.iterdir() if path.name.endswith(".new")] == []


@pytest.mark.parametrize("form", ["gradescope", "classroom50"])
def test_an_error_of_the_grader_is_no_zero(tool, form):
    """Nothing is written, what an earlier grading wrote is gone, and the command ends with 3, --exit-zero or not."""
    tool.answer("error")
    (tool.folder / "results.json").write_text('{"score": 10}')
    result = tool("grade", "second", "--format", form, "--output", "results.json", "--exit-zero", code=3)
    assert "nothing is written: the judge ended" in result.stderr
    assert not (tool.folder / "results.json").exists()
    assert tool("grade", "second", "--format", form, code=3).stdout == ""


def test_exit_zero_is_for_answers_that_failed(tool):
    """Wrong use and the grader's failures keep their codes."""
    tool.answer("fail")
    tool("grade", "second", "--exit-zero")
    tool("grade", "--all", "--exit-zero")
    tool("grade", "nonsense", "--exit-zero", code=2)
    tool.answer("error")
    tool("grade", "second", "--exit-zero", code=3)


def test_what_was_not_handed_in_has_failed(tool):
    """A marking system gets a result for a file that is not there, or is no text."""
    code = tool("grade", "second", "--file", "second.py", "--format", "gradescope", code=2).stdout
    (test,) = json.loads(code)["tests"]
    assert (test["status"], test["score"], test["max_score"]) == ("failed", 0, 10)
    assert "There is no file second.py" in test["output"]
    options = ("--file", "second.py", "--format", "gradescope", "--output", "results.json")
    assert tool("grade", "second", *options, code=2).stdout == "second.py: no case ran; written to results.json.\n"
    (tool.folder / "second.py").write_bytes(b"x = '\xff'")
    document = json.loads(tool("grade", "--file", "second.py", "--format", "gradescope", "--exit-zero").stdout)
    assert "not UTF-8" in document["tests"][0]["output"]


def test_many_answers_are_suites(tool):
    """In the order in which they were given; a form for one answer is refused."""
    for name, text in (("b", "fail: cause"), ("a", "pass"), ("c", "error")):
        (tool.folder / name).mkdir()
        (tool.folder / name / "second.py").write_text(text)
    files = [word for name in "bac" for word in ("--file", f"{name}/second.py")]
    root = ET.fromstring(tool("grade", *files, "--format", "junit", code=3).stdout)
    assert [suite.get("name") for suite in root] == ["b/second.py", "a/second.py", "c/second.py"]
    assert [suite.get("failures") for suite in root] == ["1", "0", "0"]
    assert [suite.get("errors") for suite in root] == ["0", "0", "1"]
    assert "is about one answer" in tool("grade", *files, "--format", "gradescope", code=2).stderr
    lines = tool("grade", *files, "--format", "lines", code=3).stdout
    assert [line.split(":")[0] for line in lines.splitlines()] == ["b/second.py", "c/second.py"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--points", "5"), "go with --format"),
        (("--explain",), "go with --format"),
        (("--output", "x"), "go with --format"),
        (("--format", "junit", "--json"), "two ways to print the same"),
        (("--format", "xml"), "xml"),
        (("--format", "junit", "--points", "0"), "--points"),
        (("--format", "classroom50"), "CLASSROOM, ASSIGNMENT"),
        (("--format", "junit", "--output", "nowhere/x.xml"), "nowhere"),
    ],
)
def test_wrong_use(tool, options, said):
    """Options that do not go together are refused with a sentence."""
    tool.answer("pass")
    result = tool("grade", "second", *options, code=2)
    assert said in " ".join(result.stderr.split())


def test_a_page_to_keep(tool):
    """--html writes the page beside what is shown, also of a failure; many answers have no single page."""
    tool.answer("fail: cause\n<b>\n")
    graded = tool("grade", "second", "--html", "verdict.html", code=1)
    shown = graded.stdout
    assert "Written to verdict.html." in graded.stderr
    assert "second: 1 of 3 cases pass" in shown
    text = (tool.folder / "verdict.html").read_text()
    assert "mask over heads" in text
    assert "&lt;b&gt;" in text
    assert "is about one answer" in tool("grade", "--all", "--html", "verdict.html", code=2).stderr
    tool("--lang", "zh", "grade", "second", "--html", "verdict.html", code=1)
    tool("--lang", "en", "list")
    assert '<html lang="zh-Hans">' in (tool.folder / "verdict.html").read_text()


@pytest.mark.parametrize(
    "options",
    [
        ("grade", "--html", "workspace/second.py"),
        ("grade", "--format", "junit", "--output", "workspace/second.py"),
        ("grade", "--format", "lines", "--output", "workspace/second.py"),
        ("grade", "--html", "notes.md"),
        ("show", "--weights", "--svg", "workspace/second.py"),
    ],
)
def test_nothing_of_the_learners_is_replaced(tool, options):
    """An answer and notes stay as they are."""
    tool.answer("pass")
    notes = tool.folder / "notes.md"
    notes.write_text("# mine\n")
    command, *others = options
    assert "kata did not write it" in " ".join(tool(command, "second", *others, code=2).stderr.split())
    assert (tool.workspace / "second.py").read_text() == "pass"
    assert notes.read_text() == "# mine\n"


@pytest.mark.parametrize(
    "options",
    [("--html", "x"), *(("--format", form, "--output", "x") for form in ("junit", "gradescope", "lines", "github"))],
)
def test_what_kata_wrote_makes_way(tool, options):
    """The same command a second time replaces what it wrote the first time."""
    for text in ("fail", "pass"):
        tool.answer(text)
        tool("grade", "second", *options, "--exit-zero")
    written = (tool.folder / "x").read_text()
    (tool.folder / "x").unlink()
    tool("grade", "second", *options, "--exit-zero")
    assert written[:1] == (tool.folder / "x").read_text()[:1]


@pytest.mark.parametrize(
    "options", [("grade", "--html", ""), ("grade", "--format", "junit", "--output", ""), ("show", "--svg", "")]
)
def test_a_path_that_is_empty(tool, options):
    """A variable of a shell that holds nothing is no path, which is said."""
    tool.answer("pass")
    command, *others = options
    more = ["--weights"] if command == "show" else []
    assert "is empty" in tool(command, "second", *more, *others, code=2).stderr


def test_a_folder_that_is_not_there(tool):
    """What is asked for elsewhere than in the workspace is not helped by another workspace."""
    tool.answer("pass")
    error = tool("grade", "second", "--html", "nowhere/x.html", code=2).stderr
    assert "There is no folder nowhere." in error
    assert "--workspace" not in error
