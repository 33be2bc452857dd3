"""What is written, held against what the systems publish: the schema of each, as a table that is checked here.

junit-10.xsd of Jenkins' xUnit plugin; Gradescope's autograder specifications; classroom50/result/v1; GitHub's workflow
commands and the notices of its autograding reporter.
"""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest

from grader.errors import UsageError
from grader.formats.classroom50 import classroom50
from grader.formats.github import github
from grader.formats.gradescope import gradescope
from grader.formats.junit import junit
from grader.formats.lines import lines
from tests.formats.made import BROKEN, EVERY, FAILED, NASTY_ONE, PASSED, SOURCE, UNLOADABLE

every = pytest.mark.parametrize("name", EVERY)

# element: required attributes, optional ones, children
JUNIT = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url", "version"},
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": (
        {"name"},
        {"time", "classname", "group"},
        {"skipped", "error", "failure", "system-out", "system-err"},
    ),
    "failure": (set(), {"type", "message"}, set()),
    "error": (set(), {"type", "message"}, set()),
    "system-out": (set(), set(), set()),
}
WITH_TEXT = {"failure", "error", "system-out"}
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?")


def check_junit(element: ET.Element) -> None:
    """Hold an element and what is in it against the table."""
    required, optional, children = JUNIT[element.tag]
    assert required <= set(element.attrib) <= required | optional
    if element.tag not in WITH_TEXT:
        assert not (element.text or "").strip()
    if "time" in element.attrib and element.tag != "testcase":
        assert TIME.fullmatch(element.get("time"))
    for child in element:
        assert child.tag in children
        check_junit(child)


@every
@pytest.mark.parametrize("explain", [False, True])
def test_junit(name: str, explain: bool) -> None:
    """The document is that of the schema, and its counts are those of its tests."""
    root = ET.fromstring(junit([EVERY[name], PASSED], 10, explain=explain))
    check_junit(root)
    suite = root[0]
    tests = suite.findall("testcase")
    assert int(suite.get("tests")) == len(tests)
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    assert (int(suite.get("failures")) == 0) == (EVERY[name]["verdict"] == "passed")
    assert suite.get("errors") == "0"
    assert bool(suite.findall("system-out")) == (explain and bool(EVERY[name]["causes"]))


def test_junit_of_an_error() -> None:
    """The grader's own failure is an error and no failure."""
    root = ET.fromstring(junit([BROKEN], 10, explain=False))
    check_junit(root)
    assert (root[0].get("errors"), root[0].get("failures"), root[0].get("tests")) == ("1", "0", "1")
    assert root.find(".//error").text == "the judge ended without a report"
    assert "seed" not in [one.get("name") for one in root.iter("property")]


GRADESCOPE = {
    "score": (int, float),
    "execution_time": (int, float),
    "output": str,
    "output_format": str,
    "test_output_format": str,
    "test_name_format": str,
    "visibility": str,
    "stdout_visibility": str,
    "extra_data": dict,
    "tests": list,
    "leaderboard": list,
}
GRADESCOPE_TEST = {
    "score": (int, float),
    "max_score": (int, float),
    "status": str,
    "name": str,
    "name_format": str,
    "number": str,
    "output": str,
    "output_format": str,
    "tags": list,
    "visibility": str,
    "extra_data": dict,
}
VISIBILITIES = {"hidden", "after_due_date", "after_published", "visible"}


@every
@pytest.mark.parametrize("explain", [False, True])
def test_gradescope(name: str, explain: bool) -> None:
    """Known fields of the right types, a score, formats without HTML, and no mistake unless it was asked for."""
    document = json.loads(gradescope(EVERY[name], 10, explain=explain))
    assert all(isinstance(value, GRADESCOPE[key]) for key, value in document.items())
    assert document["tests"]
    assert {document[key] for key in document if key.endswith("_format")} == {"text"}
    assert document["stdout_visibility"] in VISIBILITIES
    for test in document["tests"]:
        assert all(isinstance(value, GRADESCOPE_TEST[key]) for key, value in test.items())
        assert test["status"] in {"passed", "failed"}
        assert test["visibility"] in VISIBILITIES
        assert ("score" in test) == ("max_score" in test)
        assert test.get("score", 0) <= test.get("max_score", 0)
    assert (document["score"] == 10) == (EVERY[name]["verdict"] == "passed")
    assert ("output" in document) == (explain and bool(EVERY[name]["causes"]))


RUNNER = {
    "CLASSROOM": "attention",
    "ASSIGNMENT": "mha",
    "ASSIGNMENT_TYPE": "individual",
    "OWNER": "alice",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://example.org/commit/1",
    "RELEASE_URL": "https://example.org/releases/1",
    "REVIEW_URL": "https://example.org/compare/0...1",
}
RESULT = {
    "schema": r"classroom50/result/v1",
    "classroom": r".+",
    "assignment": r".+",
    "assignment_type": r"individual|group",
    "owner": r".+",
    "submission": r"submit/.*",
    "commit": r".+",
    "release": r".+",
    "review": r".+",
    "datetime": r"\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ",
}


@every
@pytest.mark.parametrize("points", [1, 3, 10, 100])
def test_classroom50(name: str, points: int) -> None:
    """Every required field and no other, whole scores that are within their bounds and sum up."""
    document = json.loads(classroom50(EVERY[name], points, RUNNER, explain=False))
    assert document.keys() == RESULT.keys() | {"score", "max-score", "tests"}
    for key, pattern in RESULT.items():
        assert re.fullmatch(pattern, document[key]), key
    for test in document["tests"]:
        assert {"test-name", "passed", "score", "max-score"} <= test.keys()
        assert test["test-name"]
        assert type(test["passed"]) is bool
        assert type(test["score"]) is type(test["max-score"]) is int
        assert 0 <= test["score"] <= test["max-score"]
    assert document["max-score"] == points == sum(test["max-score"] for test in document["tests"])
    assert document["score"] == sum(test["score"] for test in document["tests"])
    assert (document["score"] == points) == (EVERY[name]["verdict"] == "passed")


def test_classroom50_outside_of_its_runner() -> None:
    """What the runner would have set is named."""
    with pytest.raises(UsageError, match="SUBMISSION_TAG, COMMIT_URL"):
        classroom50(PASSED, 10, RUNNER | {"SUBMISSION_TAG": "", "COMMIT_URL": ""}, explain=False)


COMMAND = re.compile(
    r"::(error|warning|notice) ((?:file|line|col|title)=[^,:\r\n]*(?:,(?:line|col|title)=[^,:\r\n]*)*)::(.*)"
)


@every
def test_github(name: str) -> None:
    """Each line is one command, whatever a learner wrote, and the last two are what Classroom reads."""
    text = github([(EVERY[name], SOURCE)], 10, explain=True)
    commands = [COMMAND.fullmatch(line) for line in text.splitlines()]
    assert all(commands)
    assert "\r" not in text
    report = json.loads(commands[-1][3])
    assert report.keys() == {"totalPoints", "maxPoints"}
    assert report["maxPoints"] == 10
    assert (report["totalPoints"] == 10) == (EVERY[name]["verdict"] == "passed")
    assert [found[2] for found in commands[-2:]] == ["title=Autograding complete", "title=Autograding report"]
    assert bool([found for found in commands if found[1] == "error"]) == (EVERY[name]["verdict"] != "passed")


def test_github_names_mistakes_only_where_asked() -> None:
    """Without --explain the facts stand on the learner's lines."""
    quiet, loud = (github([(FAILED, SOURCE)], 10, explain=explain) for explain in (False, True))
    assert "scale" not in quiet
    assert "file=masked_softmax.py,line=5,col=5,title=core/b::b: first wrong entry [0]" in quiet
    assert "title=scale-missing::the scale is missing" in loud


def test_github_of_an_error_tells_no_points() -> None:
    """A student gets no zero for what is not the answer's."""
    text = github([(BROKEN, "")], 10, explain=False)
    assert "Points" not in text
    assert "totalPoints" not in text
    assert text.startswith("::error title=The grader itself failed")
    together = github([(BROKEN, ""), (PASSED, SOURCE)], 10, explain=False)
    assert "Points 10/10" in together


LINE = re.compile(r"(.+?):(\d+):(\d+): (error|warning): (.*) \[([\w./-]+)\]")


@every
def test_lines(name: str) -> None:
    """One problem a line, at a line and column of the source."""
    found = [LINE.fullmatch(line) for line in lines(EVERY[name], SOURCE).splitlines()]
    assert all(found)
    assert bool(found) == (EVERY[name]["verdict"] == "failed")
    for one in found:
        assert 1 <= int(one[2]) <= len(SOURCE.splitlines())
        assert int(one[3]) >= 1


def test_lines_by_hand() -> None:
    """A cause a line, by its name or by what is known of its place."""
    assert lines(FAILED, SOURCE).splitlines() == [
        "masked_softmax.py:5:5: error: the scale is missing [scale-missing]",
        "masked_softmax.py:6:5: error: Right up to line 5. [mask/a]",
    ]
    assert lines(UNLOADABLE, SOURCE) == (
        "masked_softmax.py:3:1: error: masked_softmax.py:3: SyntaxError: '(' was never closed [file]\n"
    )
    assert lines(BROKEN, SOURCE).startswith("masked_softmax.py:1:1: warning: the judge ended")
    assert len(lines(NASTY_ONE, SOURCE).splitlines()) == 2
