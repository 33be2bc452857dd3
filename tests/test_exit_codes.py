"""`kata grade` as a program: its JSON documents word for word, and the exit codes that scripts rely on.

UPDATE_GOLDEN=1 writes the documents anew; read the difference before you commit it.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import RealTool

GOLDEN = Path(__file__).with_name("golden")

REFUSAL = 'if not isinstance(x, torch.Tensor):\n    raise TypeError("no tensor")\n'
ANSWERS = {
    "passed": REFUSAL + "return x + x",
    "failed": REFUSAL + "print('adding')\nreturn x + 2",
    "stub": 'raise NotImplementedError("your turn: twice as much")',
    "timeout": "while True: pass",
    "crashed": "os._exit(0)",
    "unloadable": "return (2 * x",
}
EXIT_CODES = {"passed": 0, "failed": 1, "error": 3}

pytestmark = pytest.mark.xdist_group("served")


@pytest.fixture
def real(served: RealTool) -> RealTool:
    """The tool with a server that stays, as it does for a learner's commands."""
    return served


def write(real, body: str) -> None:
    """Write an answer of this body that imports what the bodies use."""
    path = real.write(body)
    path.write_text("import os\n\nimport torch\n\n\n" + path.read_text())


def settled(document: dict[str, Any]) -> dict[str, Any]:
    """Return a report without what differs from run to run and from machine to machine."""
    document = {
        **document,
        "seconds": 0.0,
        "spent": dict.fromkeys(document["spent"], 0.0),
        "sandbox": [],
        "sandbox_gaps": [],
        "versions": dict.fromkeys(document["versions"], ""),
        "repro": document["repro"] and "a script",
    }
    document["cases"] = [{**case, "seconds": 0.0, "message": _settled(case["message"])} for case in document["cases"]]
    document["causes"] = [
        {**one, "title": _settled(one["title"]), "evidence": one["evidence"] | _said(one)} for one in document["causes"]
    ]
    return document


def _said(cause: dict[str, Any]) -> dict[str, str]:
    return {"message": _settled(cause["evidence"]["message"])}


def _settled(message: str) -> str:
    # Cases run side by side; which of them is the first to time out, and gets the full time, is up to the machine.
    return re.sub(r"within [\d.]+ s", "within N s", message)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_json_document(real, name) -> None:
    """A report is the same word for word, and the exit code follows its verdict."""
    write(real, ANSWERS[name])
    result = real("grade", "double", "--json", "--seed", "7", code=0 if name == "passed" else 1)
    document = json.loads(result.stdout)
    assert result.stderr == ""
    assert EXIT_CODES[document["verdict"]] == result.returncode
    assert list(document["versions"]) == ["kata", "torch", "python"]
    text = json.dumps(settled(document), indent=2, ensure_ascii=False) + "\n"
    golden = GOLDEN / f"{name}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_the_documentation_names_the_fields() -> None:
    """Each field that docs/report.md shows is one of a real report."""
    page = (GOLDEN.parent.parent / "docs" / "report.md").read_text(encoding="utf-8")
    page = page.partition("The report of a debug round")[0]
    block = "\n".join(line for line in page.splitlines() if line.startswith("    "))
    block = re.sub(r'"(families|levels)": \{.*?\}+', r'"\1": ""', block)
    shown = set(re.findall(r'"(\w+)":', block))
    document = json.loads((GOLDEN / "failed.json").read_text(encoding="utf-8"))
    parts = [document, *document["cases"], *document["mistakes"], *document["families"].values(), document["versions"]]
    parts += [case["tolerance"] for case in document["cases"] if case["tolerance"]]
    parts += [document["spent"], *document["causes"], *(cause["evidence"] for cause in document["causes"])]
    parts += [cause["evidence"]["picture"] for cause in document["causes"] if cause["evidence"]["picture"]]
    assert shown - {field for part in parts for field in part} == set()


@pytest.mark.parametrize("name", ["passed", "failed", "unloadable"])
def test_the_screen_has_the_same_exit_code(real, name) -> None:
    """What a person sees ends with the code that a script sees."""
    write(real, ANSWERS[name])
    passed = name == "passed"
    output = real("grade", "double", code=0 if passed else 1).stdout
    assert output.startswith("✓ double passed" if passed else "✗ double")


def test_a_grader_that_fails_ends_with_3(real) -> None:
    """A kata that cannot be graded is not the answer's fault, and the document has the same fields as any other."""
    write(real, ANSWERS["passed"])
    answer = str(real.answer)
    document = json.loads(real("grade", "broken", "--file", answer, "--json", "--seed", "7", code=3).stdout)
    assert document["verdict"] == "error"
    assert "this kata has no cases" in document["message"]
    assert set(document) <= set(json.loads((GOLDEN / "passed.json").read_text(encoding="utf-8")))
    assert "The grader itself failed, not your answer." in real("grade", "broken", "--file", answer, code=3).stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("grade", "doubel"), "There is no kata 'doubel'."),
        (("grade", "doubel.py"), "There is no file doubel.py."),
        (("grade", "double"), "There is no file workspace/double.py."),
        (("grade", "double", "--file", "nowhere.py"), "There is no file nowhere.py."),
        (("grade",), "No kata has been started yet"),
        (("grade", "double", "--device", "tpu"), "none of cpu, cuda, cuda:N, mps"),
        (("grade", "--nonsense"), "No such option"),
        (("gade",), "There is no command 'gade'. Did you mean grade?"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["screen", "json"])
def test_wrong_use_ends_with_2(real, arguments, sentence, more) -> None:
    """Nothing is graded, nothing is on standard output, and the next step is named."""
    result = real(*arguments, *more, code=2)
    assert sentence in result.stderr
    assert "--help" in result.stderr
    assert result.stdout == ""


def test_a_case_that_does_not_exist_ends_with_2(real) -> None:
    """No case, no verdict."""
    write(real, ANSWERS["passed"])
    assert "No case has 'nonsense'" in real("grade", "double", "--case", "nonsense", code=2).stderr


def test_a_script_can_rely_on_the_code(real) -> None:
    """The code is the program's own: `kata grade && git commit` does what it says."""
    write(real, ANSWERS["failed"])
    assert real("grade", "double", "--case", "one number", code=1).stdout
    write(real, ANSWERS["passed"])
    assert "the chosen case" in real("grade", "double", "--case", "core/one_number", code=0).stdout
