"""How far correct computations lie apart: wide enough for another order, far too narrow for a float32 constant."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch

from grader.catalog import Kata
from grader.judge.cases.case import Case
from grader.judge.cases.variant import Variant
from grader.judge.contract import Grading, Reference
from grader.judge.exchange.results import Exchange
from grader.judge.explain.reproduce import MistakeRunner
from grader.judge.failure import Failure
from grader.judge.runs.outcome import CaseOutcome, Run
from grader.judge.runs.recorder import record
from grader.judge.runs.recording import Recording
from grader.judge.tolerance import MULTIPLE, Moves
from grader.judge.verdict.replies import judge_numbers
from grader.judge.verdict.rounding import _drawn
from grader.judge.workers.backend import loaded

F64 = torch.float64
IN_FLOAT64 = Variant("grad", dtype=F64, grad=True)

REFERENCE = '''
"""Softmax with a scale, a table beside it, and something that keeps."""
import math
import torch
from torch import nn

def weights(x):
    """Return them."""
    return torch.softmax(x / math.sqrt(5), dim=-1)

class Placed(nn.Module):
    """Adds positions, float32 by contract."""
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))
        self.register_buffer("table", torch.sin(torch.arange(1.0, width + 1)), persistent=False)

    def forward(self, x):
        """Return them moved."""
        return x + self.bias + self.table

class Total:
    """Keeps a sum."""
    def __init__(self):
        self.sum = 0.0

    def add(self, x):
        """Return the sum so far."""
        self.sum = self.sum + (x * 3).sum()
        return self.sum
'''


@pytest.fixture
def measured(make_kata: Callable[..., Kata]) -> Grading:
    """Return a grading of a kata with a function, a module with a table, and a class that keeps."""
    kata = make_kata(REFERENCE, entry=("weights", "Placed", "Total"))
    return Grading(Reference(kata), 5)


def recorded(grading: Grading, function: Any, variant: Variant = IN_FLOAT64) -> Recording:
    """Record a case in float64, and measure all that can be."""
    run = Run(CaseOutcome(Case("test_it", "", "", "core", 0, function), variant), number=1)
    recording = record(run, grading, loaded(grading.reference_text, "reference.py"))
    for expected in reversed(recording.expected):  # whoever comes first
        expected.settle()
    return recording


def softmax(check: Any, rng: Any) -> None:
    """Call the function."""
    check["weights"](rng.normal(4, 6))


def passes(recording: Recording, source: str) -> bool:
    """Whether an answer passes at a glance."""
    runner = MistakeRunner(REFERENCE.replace("torch.softmax(x / math.sqrt(5), dim=-1)", source), "a.py", frozenset())
    done = runner.remembered(1, recording.exchanges, looked=False)
    return recording.met((response.reply, response.payload) for response in done)


@pytest.mark.parametrize(
    ("source", "right"),
    [
        ("torch.softmax(x / math.sqrt(5), dim=-1)", True),
        ("torch.softmax(x * 5 ** -0.5, dim=-1)", True),
        ("(x / 5 ** 0.5).exp() / (x / 5 ** 0.5).exp().flip(-1).cumsum(-1)[..., -1:]", True),
        ("torch.log_softmax(x / math.sqrt(5), dim=-1).exp()", True),
        ("torch.softmax(x / torch.sqrt(torch.tensor(5)), dim=-1)", False),
        ("torch.softmax(x / math.sqrt(5), dim=-1, dtype=torch.float32).to(x.dtype)", False),
        ("(w := torch.softmax(x / math.sqrt(5), dim=-1)) / (w.sum(-1, keepdim=True) + 1e-12)", False),
        ("(w := torch.softmax(x / math.sqrt(5), dim=-1)).masked_fill(w < 1e-6, 0.0) * (1 - 1e-12)", False),
    ],
    ids=["itself", "factor", "other order", "log softmax", "float32 scale", "float32 softmax", "1e-12", "less"],
)
def test_digits_that_are_promised_are_checked(measured: Grading, source: str, right: bool) -> None:
    """Each of the wrong ones is within the table's millionth."""
    assert passes(recorded(measured, softmax), source) == right


@pytest.mark.parametrize(
    ("source", "matters"),
    [("torch.softmax(x * 5 ** -0.5, dim=-1)", False), ("x", False), ("torch.softmax(x / 5 ** 0.5, -1) + 1e-12", True)],
)
def test_a_recording_measures_only_for_a_reply_that_makes_it_matter(
    measured: Grading, source: str, matters: bool
) -> None:
    """It takes longer than all the rest of a recording."""
    run = Run(CaseOutcome(Case("test_it", "", "", "core", 0, softmax), IN_FLOAT64), number=1)
    recording = record(run, measured, loaded(measured.reference_text, "reference.py"))
    passes(recording, source)
    assert (recording.exchanges[0].moves is not None) == matters


def test_the_measure_depends_on_the_inputs_alone(measured: Grading) -> None:
    """It is some last digits of the result, from a process's first measure on, and the reference is what it was."""
    _drawn.cache_clear()
    first, again = recorded(measured, softmax).exchanges[0], recorded(measured, softmax).exchanges[0]
    assert first.moves is not None
    assert first.moves == again.moves
    assert 1e-17 < first.moves.results < 1e-14
    assert 1e-18 < first.moves.grads["x"] < 1e-14
    assert torch.equal(first.want, again.want)
    assert torch.equal(first.want_grads["x"], again.want_grads["x"])


def test_other_dtypes_have_the_table(measured: Grading) -> None:
    """Nothing is measured for them."""
    assert recorded(measured, softmax, Variant("core")).exchanges[0].moves is None


def test_a_table_that_is_float32_by_contract(measured: Grading) -> None:
    """What it enters is left to the table of tolerances; what it does not is not, and no other call meets it."""

    def moved(check: Any, rng: Any) -> None:
        check["Placed"](3)(rng.normal(2, 3))

    for _time in range(2):
        build, call = recorded(measured, moved).exchanges
        assert call.moves is not None
        assert call.moves.results * MULTIPLE > 1e-6 * float(call.want.abs().max())
        assert call.moves.grads["bias"] < 1e-14
        table = torch.sin(torch.arange(1.0, 4.0)).double()
        assert torch.equal(call.want, call.trees["args"][0] + build.trees["state"]["bias"] + table)


def test_numbers_of_a_case_have_the_digits_of_the_run(measured: Grading) -> None:
    """Also where an author wrote them as float32."""

    def by_hand(check: Any, rng: Any) -> None:
        check["weights"](torch.tensor([[0.3, 1.7]]))

    moves = recorded(measured, by_hand).exchanges[0].moves
    assert moves is not None
    assert moves.results < 1e-14


def test_what_an_object_kept_moves_as_well(measured: Grading) -> None:
    """The earlier calls are made once more, whoever has asked about them."""

    def sums(check: Any, rng: Any) -> None:
        total = check["Total"]()
        total.do("add", rng.normal(9) + 1e6)
        total.method("add", rng.normal(9))

    last = recorded(measured, sums, Variant("dtype", "float64", F64)).exchanges[-1]
    assert last.moves is not None
    assert last.moves.results > 1e-9


@pytest.mark.parametrize(("error", "measures", "fails"), [(1e-16, 0, ""), (2e-12, 1, "measured"), (1e-3, 0, "table")])
def test_it_is_measured_where_it_matters(error: float, measures: int, fails: str) -> None:
    """Not for what is within rounding, nor for what is beyond the table."""
    want = torch.tensor([1.0, 2.0], dtype=F64)
    exchange = Exchange({"op": "call"}, {}, "f()", ("y",), compared=True, value=want + error, want=want)
    asked: list[bool] = []

    def measure() -> Moves:
        asked.append(True)
        return Moves(1e-14, {})

    with pytest.raises(Failure) if fails else nullcontext() as caught:
        judge_numbers(exchange, F64, measure, grad=False)
    assert len(asked) == measures
    assert not fails or caught.value.tolerance.origin == fails
