"""Runs for tables: a case by its name and family, in a variant by family and label, and what it would ask for."""

from __future__ import annotations

from typing import Any

import torch

from grader.judge.cases.case import Case
from grader.judge.cases.variant import Variant
from grader.judge.exchange.results import Exchange
from grader.judge.failure import Failure
from grader.judge.runs.outcome import CaseOutcome, Run
from grader.judge.runs.recording import Recording
from grader.transport.operations import Message


def no_case(_check: Any, _rng: Any) -> None:
    """Stand in for the function of a case that nobody runs."""


def run_of(number: int, name: str, own: str = "core", family: str = "", label: str = "") -> Run:
    """Return the run of a case of the family ``own``, in itself or in a variant of another one."""
    case = Case(f"test_{name}", "", "", own, number, no_case)
    return Run(CaseOutcome(case, Variant(family or own, label)), number=number)


def recording_of(operations: int = 1, *, straight: bool = True, repeats: tuple[int, ...] = ()) -> Recording:
    """Return a recording that asks for so many operations."""
    messages = [Message({"op": "call"}) for _operation in range(operations)]
    return Recording(torch.float32, messages, is_straight=straight, repeats=frozenset(repeats))


def failed(run: Run, kind: str = "value") -> Run:
    """Let a run have failed."""
    run.outcome.fail(Failure(kind, "not so"))
    return run


def passed(run: Run) -> Run:
    """Let a run have passed."""
    run.outcome.succeed()
    return run


def exchange_of(
    *args: Any, train: bool = False, state: dict[str, torch.Tensor] | None = None, **kwargs: Any
) -> Exchange:
    """Return a call of the only function with these arguments."""
    header = {"op": "call", "entry": "f", "method": "", "handle": None, "train": train, "names": list("xyz")}
    trees: dict[str, Any] = {"args": args, "kwargs": kwargs} | ({"state": state} if state else {})
    size = sum(value.numel() for value in args if isinstance(value, torch.Tensor))
    return Exchange(header, trees, "f(x)", ("output",), compared=True, size=size)
