"""A right answer may be beyond its tolerance once in a long while: then other inputs decide."""

from __future__ import annotations

import re

import pytest
import torch

from grader import catalog
from grader.client.session import Request, Session
from grader.judge.tolerance import Tolerance, may_be_bad_luck
from tests.gradings import SEED, answers_of

KATA = catalog.find("masked-softmax")
RETURNS = "    return weights"


def graded(session: Session, line: str, case: str) -> dict:
    """Grade the reference with a line before it returns, in cases of bfloat16."""
    text = KATA.reference()
    assert text.count(RETURNS) == 1
    source = text.replace(RETURNS, f"    {line}\n{RETURNS}")
    return session.grade(Request(KATA.id, source, KATA.filename, seed=SEED, case=case))


def bfloat16_of(session: Session) -> dict[str, float]:
    """Return the first of the scores of cases in bfloat16: the answer tells."""
    tells = 'if scores.dtype == torch.bfloat16: raise ValueError(f"first {scores.flatten()[0].item()!r}")'
    report = graded(session, tells, "dtype/")
    found = {}
    for case in report["cases"]:
        said = re.search(r"first (\S+)", case.get("message", ""))
        if said and case["id"].endswith("[bfloat16]"):
            found[case["id"]] = float(said[1])
    return found


@pytest.fixture(scope="module")
def drawn(session: Session) -> list[tuple[str, float]]:
    """Two cases whose inputs are drawn, and the first score of each."""
    report = graded(session, "pass", "dtype/")
    assert report["verdict"] == "passed"
    firsts = bfloat16_of(session)
    once = [(case, first) for case, first in firsts.items() if list(firsts.values()).count(first) == 1]
    return [(case, first) for case, first in once if first * 64 % 1][:2]  # what is written by hand is rounder


def off(firsts: list[float]) -> str:
    """Return the line that makes numbers in bfloat16 a third further off than they may be, for some inputs."""
    return f"weights = weights * (1.04 if scores.dtype == torch.bfloat16 and scores.flatten()[0] in {firsts} else 1.0)"


def test_one_run_beyond_its_tolerance(session: Session, drawn: list[tuple[str, float]]) -> None:
    """It is asked again on other inputs, and passes there."""
    (_case, first), _other = drawn
    assert graded(session, off([first]), "dtype/")["verdict"] == "passed"


def test_two_runs_beyond_it(session: Session, drawn: list[tuple[str, float]]) -> None:
    """Nobody has bad luck twice."""
    report = graded(session, off([first for _case, first in drawn]), "dtype/")
    assert [case["id"] for case in report["cases"] if case["outcome"] == "failed"] == [drawn[1][0]]


def test_on_any_inputs(session: Session, drawn: list[tuple[str, float]]) -> None:
    """What is as far off on other inputs fails, alone in its grading though it is."""
    (case, _first), _other = drawn
    line = "weights = weights * (1.04 if scores.dtype == torch.bfloat16 else 1.0)"
    assert graded(session, line, case)["verdict"] == "failed"


def test_further_off(session: Session, drawn: list[tuple[str, float]]) -> None:
    """Beyond twice the tolerance nobody asks for luck."""
    (case, first), _other = drawn
    assert graded(session, off([first]).replace("1.04", "1.1"), case)["verdict"] == "failed"


def test_a_softmax_that_is_nearly_certain(session: Session) -> None:
    """Its gradient is what rounding leaves: at this seed every correct style was beyond the table in float32."""
    kata = catalog.find("attention-backward")
    correct = {known.name: known.source for known in answers_of(kata.id) if known.kind == "correct"}
    for name in ("flash_delta", "einsum"):
        request = Request(kata.id, correct[name], kata.filename, seed=48, case="every_mask_at_every_size")
        assert session.grade(request)["verdict"] == "passed"


def test_scores_of_tokens_that_are_loud(session: Session) -> None:
    """Scores in the thousands magnify what a table of float32 rounds: at this seed a gradient was beyond the table."""
    kata = catalog.find("translate")
    correct = {known.name: known.source for known in answers_of(kata.id) if known.kind == "correct"}
    request = Request(
        kata.id, correct["cross_entropy_and_pasted_katas"], kata.filename, seed=4477, case="grad/two_layers"
    )
    assert session.grade(request)["verdict"] == "passed"


def test_a_result_near_nothing(session: Session) -> None:
    """Where all numbers of a result happen to be near 0, each of their terms has rounded to more than is allowed."""
    kata = catalog.find("cross-attention")
    request = Request(kata.id, kata.reference(), kata.filename, seed=1573767519, case="every_mask_at_every_size")
    assert session.grade(request)["verdict"] == "passed"


@pytest.mark.parametrize(
    ("dtype", "times", "allowed", "asked_again"),
    [
        (torch.bfloat16, 1.9, 1e-2, True),
        (torch.bfloat16, 2.1, 1e-2, False),
        (torch.float16, 1.0, 1e-2, False),
        (torch.float32, 4.9, 1e-8, True),
        (torch.float32, 11.0, 1e-8, False),
        (torch.float32, 1.9, 1e-5, True),
        (torch.float32, 2.1, 1e-5, False),
        (torch.float64, 1.1, 1e-14, False),
    ],
)
def test_what_may_be_bad_luck(dtype: torch.dtype, times: float, allowed: float, asked_again: bool) -> None:
    """Numbers that are hardly too far away, in float32 also those that are near 0; none in float64."""
    assert may_be_bad_luck(dtype, times, Tolerance(allowed, "table")) is asked_again
