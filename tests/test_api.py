"""`grader.api`: the report of `kata grade --json` from a program."""

from __future__ import annotations

import json
import re
import typing
from pathlib import Path

import pytest

from grader import api, catalog
from grader.client.session import Session
from grader.errors import GraderFailed, UnknownKata, UsageError
from tests.gradings import SEED, on_its_worker

ROOT = Path(__file__).resolve().parent.parent
KATA = catalog.find("masked-softmax")
pytestmark = [on_its_worker(KATA.id), pytest.mark.grades]


@pytest.fixture(scope="module")
def grader():
    """One server for all."""
    with api.Grader() as grader:
        yield grader


def test_a_pass_and_a_failure(grader: api.Grader) -> None:
    """The verdict, the seed and the named mistake are those of the tool; nothing is recorded anywhere."""
    report = grader.grade(KATA.id, KATA.reference(), SEED)
    assert (report["verdict"], report["seed"], report["file"]) == ("passed", SEED, KATA.filename)
    failing = KATA.reference().replace("weights.masked_fill(~mask, 0.0)", "weights")
    report = grader.grade("Masked_Softmax", failing.encode(), SEED)
    assert report["verdict"] == "failed"
    assert report["mistakes"][0]["cases"]


def test_the_types_are_the_report(grader: api.Grader) -> None:
    """Every field of a real report, of its cases and its mistakes is one of the declared types, and none is missing."""
    failing = KATA.reference().replace("weights.masked_fill(~mask, 0.0)", "weights")
    report = grader.grade(KATA.id, failing, SEED)
    optional = api.Report.__optional_keys__
    assert set(report) - optional == api.Report.__required_keys__
    assert set(report["cases"][0]) == api.Case.__required_keys__
    assert set(report["mistakes"][0]) == api.Mistake.__required_keys__
    assert {case["outcome"] for case in report["cases"]} <= set(typing.get_args(api.Case.__annotations__["outcome"]))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"x = '\xff'\n", "masked_softmax.py:1: the file is not UTF-8 text, here is the byte 0xff"),
        ("x = 1\ny = '\udc80'\n", "masked_softmax.py:2: the file is not UTF-8 text"),
        ("#" * (1 + (1 << 20)), "is larger than 1 MiB"),
        ("def masked_softmax(:\n", "SyntaxError"),
        ("", "masked_softmax"),
    ],
    ids=["no UTF-8", "half a character", "too large", "no Python", "empty"],
)
def test_what_is_no_answer_has_failed(grader: api.Grader, source: str | bytes, said: str) -> None:
    """It is the answer's failure, without a case, and never an error of the grader."""
    report = grader.grade(KATA.id, source, SEED)
    assert (report["verdict"], report["cases"]) == ("failed", [])
    assert said in report["message"]
    assert set(report) - api.Report.__optional_keys__ == api.Report.__required_keys__


def test_wrong_use_is_raised(grader: api.Grader) -> None:
    """No such kata, and no such case."""
    with pytest.raises(UnknownKata):
        grader.grade("masked-softmux", "")
    with pytest.raises(UsageError, match="No case has"):
        grader.grade(KATA.id, KATA.reference(), case="no such case")


def test_a_fault_of_the_grader_is_an_error(grader: api.Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says nothing of the answer: not failed, and not raised either."""

    def broken(*_arguments, **_more):
        raise GraderFailed("the judge ended without a report")

    monkeypatch.setattr(Session, "grade", broken)
    report = grader.grade(KATA.id, KATA.reference())
    assert report["verdict"] == "error"
    assert report["message"].startswith("the judge ended without a report.")
    assert set(report) - api.Report.__optional_keys__ == api.Report.__required_keys__


def test_one_call_grades(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`api.grade` needs nothing around it and leaves no history."""
    monkeypatch.setenv("KATA_SERVER", "off")
    monkeypatch.setenv("KATA_HOME", str(tmp_path / "home"))
    report = api.grade(KATA.id, KATA.reference(), SEED, case="core")
    assert report["verdict"] == "passed"
    assert "core" in report["families"]
    assert json.loads(json.dumps(report)) == report
    assert not (tmp_path / "home").exists()


def test_the_document_describes_each_field() -> None:
    """docs/report.md and the types name the same fields."""
    page = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    described = set(re.findall(r'"(\w+)":', page))
    declared = api.Report.__required_keys__ | api.Case.__required_keys__ | api.Mistake.__required_keys__
    assert declared - described == set()
