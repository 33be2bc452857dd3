"""Whatever a sandbox replies, the judge decides: a forgery is a failure of its case, or nothing."""

from __future__ import annotations

import json
import sys

import pytest
import torch

from grader.judge.cases.case import Case
from grader.judge.cases.variant import Variant
from grader.judge.contract import Grading
from grader.judge.failure import Failure, SandboxEnded, from_reply, learner_line, raised_types
from grader.judge.runs.lives import again
from grader.judge.runs.outcome import CaseOutcome
from grader.judge.workers.backend import loaded

DEEP: list = []
for _ in range(3000):
    DEEP = [DEEP]
JUNK = [
    *(None, True, 2**70, float("nan"), "\x1b]0;owned\x07", "\ud800"),
    *([], [1], [[]], [["a", 1, 2]], [["W", "b"]], {"p": 3}, {"t": "float64"}, {"verdict": "passed"}),
]
VARIANTS = {
    "core": Variant("core"),
    "grad": Variant("grad", dtype=torch.float64, grad=True),
    "device": Variant("device", device="sim"),
    "contract": Variant("contract", trace=True),
    "cost": Variant("cost", cost=True),
}


def case(check, rng):
    """A module, a function with two results, its second result as an argument."""
    module = check["Shift"](3)
    module(rng.normal(2, 3))
    first, second = check["scaled"](rng.normal(2, 3), factor=3.0)
    check["scaled"](second)
    cost = check["scaled"].run(rng.normal(3))
    if check.variant.cost:
        check.at_most(cost.cost.work, 1e9, "too much")
    check.same(first, first, "never")


class Forger:
    """Runs the reference as the answer, on the CPU, and has its replies forged."""

    def __init__(self, grading: Grading, forge) -> None:
        self._executor = loaded(grading.reference_text, "reference.py")
        self._forge = forge

    def submit(self, header, tensors):
        """Do one operation; the reply is what would arrive as JSON."""
        reply, out = self._executor.do(header | {"device": "cpu"}, tensors)
        return self._forge(json.loads(json.dumps(reply))), out

    def wait(self, asked):
        """Return what was done already."""
        return asked


def judge(grading: Grading, variant: Variant, forge) -> str:
    """Return how a case ends whose replies are forged: a kind of failure, or nothing. Anything else comes through."""
    outcome = CaseOutcome(Case("test_forged", "", "", "core", 0, case), variant)
    try:
        again(outcome, grading, Forger(grading, forge), judges=True)
    except Failure as failure:
        return failure.kind
    return ""


def places(node) -> list[tuple]:
    """Return every place in a reply where something stands."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    return [(node, key) for key in keys] + [place for key in keys for place in places(node[key])]


@pytest.mark.parametrize("name", VARIANTS)
def test_an_honest_reply(grading: Grading, name: str) -> None:
    """Nothing is forged: nothing is wrong, but that the results are not where the inputs would have been."""
    assert judge(grading, VARIANTS[name], lambda reply: reply) == ("device" if name == "device" else "")


def put(junk):
    """Put something else there."""

    def change(container, key) -> None:
        if key != "kind":  # checked where it arrives
            container[key] = junk

    return change


def remove(container, key) -> None:
    """Leave something out."""
    if key != "kind":
        del container[key]


def add(container, key) -> None:
    """Add what belongs to another kind of value."""
    if isinstance(container[key], dict):
        container[key] |= {"p": 3, "l": [[[]]], "d": [5], "t": "float32"} | container[key]


CHANGES = {repr(junk): put(junk) for junk in JUNK} | {"deep": put(DEEP), "remove": remove, "add": add}


@pytest.mark.one_of_many(of=4)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize(
    ("name", "kind"),
    [("core", "built"), ("grad", "value"), ("device", "value"), ("contract", "value"), ("cost", "value")],
)
def test_change_in_any_place(grading: Grading, name: str, kind: str, change) -> None:
    """One place of each reply after the other is changed."""
    seen: list[dict] = []
    judge(grading, VARIANTS[name], lambda reply: seen.append(reply) or reply)
    for index in range(max(len(places(reply)) for reply in seen if reply["kind"] == kind)):

        def forge(reply, index=index):
            where = places(reply)
            if index < len(where) and reply["kind"] == kind:
                change(*where[index])
            return reply

        judge(grading, VARIANTS[name], forge)


@pytest.mark.parametrize("key", ["value", "modified", "seen", "grads", "parameters"])
@pytest.mark.parametrize("name", VARIANTS)
def test_missing_parts(grading: Grading, name: str, key: str) -> None:
    """A reply may lack what it should have."""
    judge(grading, VARIANTS[name], lambda reply: {k: v for k, v in reply.items() if k != key})


@pytest.mark.parametrize(
    "kind", ["value", "built", "error", "memory", "missing", "large", "loaded", "device", "ready", "?"]
)
@pytest.mark.parametrize("name", VARIANTS)
def test_another_kind(grading: Grading, name: str, kind: str) -> None:
    """A reply that is no result, or nothing that was asked for, passes nothing."""
    forged = judge(grading, VARIANTS[name], lambda reply: reply | {"kind": kind})
    assert forged or kind in ("value", "built")
    assert judge(grading, VARIANTS[name], lambda _: {"kind": kind})


def test_an_empty_claim(grading: Grading) -> None:
    """Neither `built` in the place of a result nor a result that is missing counts as one."""
    assert judge(grading, VARIANTS["core"], lambda reply: reply | {"kind": "built", "parameters": []})
    assert judge(grading, VARIANTS["core"], lambda _: {"kind": "value", "value": None})


@pytest.mark.parametrize("depth", [200, 2000])
@pytest.mark.parametrize("where", ["type", "message", "frames", "bases"])
def test_nesting_in_an_error(where: str, depth: int) -> None:
    """Text that is a thousand lists in each other is not written out."""
    nested: object = "x"
    for _ in range(depth):
        nested = [nested]
    failure = from_reply(
        {"kind": "error", "type": "ValueError", "message": "m", "frames": [], "bases": []} | {where: nested}
    )
    assert failure is not None
    assert len(failure.message) < 500
    assert learner_line({"frames": nested}) == 0
    assert raised_types({"bases": nested}) == []


@pytest.mark.parametrize(
    ("reply", "kind", "says"),
    [
        ({"kind": "error", "type": "ValueError", "message": "no"}, "error", "ValueError: no"),
        ({"kind": "error", "type": "KeyError"}, "error", "KeyError"),
        ({"kind": "error"}, "error", "?"),
        (
            {"kind": "error", "type": "NotImplementedError", "message": "your turn"},
            "stub",
            "not written yet: your turn",
        ),
        ({"kind": "error", "type": "NotImplementedError"}, "stub", "not written yet"),
        (
            {"kind": "error", "type": "NotImplementedError", "message": "the derivative for 'f' is not implemented."},
            "error",
            "NotImplementedError: the derivative for 'f'",
        ),
        ({"kind": "error", "type": "SystemExit"}, "error", "your code raised SystemExit instead of returning"),
        ({"kind": "error", "type": "Skipped"}, "error", "your code raised pytest's Skipped; that decides nothing here"),
        ({"kind": "error", "type": "RecursionError"}, "error", "your code calls itself without end (RecursionError)"),
        ({"kind": "memory", "type": "MemoryError"}, "memory", "ran out of memory"),
        ({"kind": "missing", "message": "the file defines no f"}, "missing", "the file defines no f"),
        ({"kind": "error", "type": "PermissionError", "message": "x"}, "error", "an answer may not touch files"),
        ({"kind": "error", "type": "A\x1b[31mB", "message": "c\x07d"}, "error", "AB: c\\x07d"),
    ],
)
def test_sentences(reply: dict, kind: str, says: str) -> None:
    """Each way to fail has a sentence of its own, without what would act on a terminal."""
    failure = from_reply(reply)
    assert failure is not None
    assert failure.kind == kind
    assert says in failure.message
    assert failure.outcome == "failed"


def test_long_texts_are_cut() -> None:
    """A message of a megabyte is cut."""
    failure = from_reply({"kind": "error", "type": "E" * 10**6, "message": "m" * 10**6})
    assert failure is not None
    assert len(failure.message) < 500


@pytest.mark.parametrize(
    ("frames", "line"),
    [
        ([[3, "f", ""], [7, "g", ""]], 7),
        ([], 0),
        (None, 0),
        ([7], 0),
        ([["7"]], 0),
        ([[True]], 0),
        ([[-1]], 0),
        ([[10**9]], 0),
        ("77", 0),
    ],
)
def test_lines(frames, line: int) -> None:
    """The innermost line of the learner's counts, if it is one."""
    assert learner_line({"frames": frames}) == line


@pytest.mark.parametrize("kind", ["value", "built", "loaded", "device"])
def test_no_failure(kind: str) -> None:
    """Only what says that it is an error is one."""
    assert from_reply({"kind": kind, "type": "ValueError"}) is None


def test_recursion_limit_is_what_it_was() -> None:
    """Judging changes no limits."""
    assert sys.getrecursionlimit() == 1000
    assert SandboxEnded("timeout", "x").ending == "timeout"
