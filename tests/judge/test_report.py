"""The report of a grading, made from what happened in the cases; and which variants a case has."""

from __future__ import annotations

import pytest
import torch

from grader.judge.cases.case import Case, on_hardware, variants_of
from grader.judge.cases.variant import Variant
from grader.judge.explain import report
from grader.judge.failure import Failure, SandboxEnded, from_ending
from grader.judge.runs.outcome import CaseOutcome

FAMILIES = ("core", "mask", "dtype", "grad", "device", "contract", "cost")


def outcome(family: str = "core", result: str = "passed", failure: Failure | None = None, **more) -> CaseOutcome:
    """Return what happened in one case."""
    case = Case(more.pop("name", "test_some_thing"), more.pop("parameters", ""), "Why.", family, 0, print)
    return CaseOutcome(case, Variant(family, more.pop("label", "")), result, failure, **{"skipped": None} | more)


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        (["passed"], "passed"),
        (["passed", "failed"], "failed"),
        (["passed", "timeout"], "failed"),
        (["passed", "crashed"], "failed"),
        ([], "failed"),
    ],
)
def test_verdict(outcomes: list[str], verdict: str) -> None:
    """Every case ran and passed, or the answer fails: where nothing ran, nothing passed."""
    assert report.verdict([outcome(result=result) for result in outcomes], len(outcomes)) == verdict


@pytest.mark.parametrize(
    ("skipped", "verdict"),
    [("machine", "passed"), ("lost", "failed"), ("left-out", "failed"), ("unasked", "failed"), ("untrained", "failed")],
)
def test_a_case_that_did_not_run(skipped: str, verdict: str) -> None:
    """The machine alone excuses a case, and never all of them."""
    left = outcome(result="skipped", skipped=skipped)
    assert report.verdict([outcome(), left], 2) == verdict
    assert report.verdict([left, left], 2) == "failed"


def test_a_case_of_which_nothing_was_heard() -> None:
    """As many outcomes as there are cases, or nobody has passed."""
    assert report.verdict([outcome()], 2) == "failed"
    assert CaseOutcome(outcome().case, Variant("core")).outcome == "skipped"


def test_families() -> None:
    """Counted in the order in which they build on each other; a skipped case is not passed."""
    given = [("grad", "passed"), ("core", "passed"), ("core", "failed"), ("device", "skipped")]
    assert report.families(outcome(*pair) for pair in given) == {
        "core": {"passed": 1, "total": 2},
        "grad": {"passed": 1, "total": 1},
        "device": {"passed": 0, "total": 1},
    }


def test_names() -> None:
    """Ids and titles come from the function's name, its parameters and the variant."""
    case = outcome("dtype", label="float16", name="test_two_heads", parameters="2, (3, 1)")
    assert case.id == "dtype/two_heads(2, (3, 1))[float16]"
    assert case.title == "two heads (2, (3, 1)) [float16]"
    assert case.case.stream == "test_two_heads(2, (3, 1))"
    assert outcome().id == "core/some_thing"


def test_a_passed_case() -> None:
    """Nothing is said about it."""
    document = report.case_document(outcome(), "", "made_up.py")
    assert document | {"seconds": 0.0} == {
        **{"id": "core/some_thing", "family": "core", "title": "some thing", "about": "Why.", "outcome": "passed"},
        **{
            "kind": "",
            "message": "",
            "where": "",
            "line": "",
            "call": "",
            "levels": {},
            "needs": None,
            "only": "",
            "remarks": [],
            "tolerance": None,
            "printed": "",
            "seconds": 0.0,
        },
    }


def test_a_failed_case() -> None:
    """Message, call and the learner's own line, all of them safe to show."""
    failure = Failure("value", "first wrong \x1b[31mentry\x07", line=2, call="f(x (2, 3))")
    document = report.case_document(outcome(result="failed", failure=failure), "a = 1\n    b = '\x07'\n", "made_up.py")
    assert (document["kind"], document["where"], document["call"]) == ("value", "made_up.py:2", "f(x (2, 3))")
    assert document["message"] == "first wrong entry\\x07"
    assert document["line"] == "b = '\\x07'"


@pytest.mark.parametrize("line", [3, 10**6])
def test_a_line_that_is_not_there(line: int) -> None:
    """A line beyond the file shows nothing."""
    failure = Failure("error", "x", line=line)
    assert report.case_document(outcome(result="failed", failure=failure), "a\nb\n", "f.py")["line"] == ""


def test_endings() -> None:
    """A sandbox that ended is a failure with a sentence: where it hung, if that is known."""
    hung = from_ending(SandboxEnded("timeout", "", line=7, seconds=10.0))
    assert (hung.outcome, hung.line, str(hung)) == ("timeout", 7, "no answer within 10 s: it was at line 7")
    assert "inside a single operation" in str(from_ending(SandboxEnded("timeout", "", seconds=0.5)))
    crashed = from_ending(SandboxEnded("crashed", "ended by SIGSEGV"))
    assert (crashed.outcome, str(crashed)) == ("crashed", "ended by SIGSEGV")
    assert from_ending(SandboxEnded("memory", "too much")).outcome == "crashed"


def a_case(family: str, derives: tuple[str, ...] | None) -> Case:
    """Return a case that does nothing."""

    def nothing(check: object, rng: object) -> None:
        del check, rng

    return Case("test_case", "", "", family, 0, nothing, derives)


def described(variants: list[Variant]) -> list[str]:
    """Name variants in short."""
    return [f"{v.family}:{v.label}" if v.label else v.family for v in variants]


def test_derived_variants() -> None:
    """Core and mask cases are derived into the other families that the kata lists."""
    every = ["dtype:float64", "dtype:bfloat16", "dtype:float16", "grad", "device", "contract"]
    assert described(variants_of(a_case("core", None), FAMILIES)) == ["core", *every]
    assert described(variants_of(a_case("mask", None), FAMILIES)) == ["mask", *every]
    assert described(variants_of(a_case("core", None), ("core", "grad"))) == ["core", "grad"]


def test_chosen_variants() -> None:
    """`derive` chooses some or none of them."""
    assert described(variants_of(a_case("core", ()), FAMILIES)) == ["core"]
    assert described(variants_of(a_case("mask", ("grad", "contract")), FAMILIES)) == ["mask", "grad", "contract"]
    assert described(variants_of(a_case("core", ("cost",)), FAMILIES)) == ["core"]


def test_cases_of_other_families() -> None:
    """A case of another family runs in this one alone, in its own way."""
    (grad,) = variants_of(a_case("grad", None), FAMILIES)
    (device,) = variants_of(a_case("device", None), FAMILIES)
    (cuda,) = on_hardware([device], "cuda:0")
    (contract,) = variants_of(a_case("contract", None), FAMILIES)
    (cost,) = variants_of(a_case("cost", None), FAMILIES)
    assert (grad.grad, grad.dtype) == (True, torch.float64)
    assert (device.device, device.label, cuda.device, cuda.label) == ("sim", "", "cuda:0", "cuda:0")
    assert contract.trace
    assert contract.compares_values
    assert cost.cost
