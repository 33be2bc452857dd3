"""Naming the mistake: which entries of the kata's bank behave, on the same calls, exactly as the answer did.

A case is run again with the mistake in place of the answer. An entry is named when it reproduces every operation of the failing cases,
values, gradients, dtypes, changed inputs and errors alike, and of the passing ones as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import torch

from grader.judge.check import Check, Exchange
from grader.judge.compare import agree
from grader.judge.failure import Failure, Satisfied
from grader.judge.grading import Grading, Local, Reply
from grader.judge.mistakes import Mistake, load
from grader.judge.numbers import Numbers
from grader.judge.plugin import CaseOutcome
from grader.sandbox.executor import AnswerError
from grader.sandbox.wire import Unpacker

FAILING_PER_FAMILY: Final = 4
PASSING_PER_FAMILY: Final = 3
COMPARABLE: Final = frozenset(("value", "built", "error", "missing"))


class Reproduced(BaseException):
    """The last recorded operation was reproduced."""


class Different(BaseException):
    """The mistake did something else than the answer."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A mistake and the failing cases in which it did what the answer did."""

    mistake: Mistake
    cases: tuple[str, ...]

    def document(self, lang: str) -> dict[str, Any]:
        """Return the entry of the report."""
        texts = {key: getattr(self.mistake, key)[lang] for key in ("title", "explain", "nudge")}
        return {"id": self.mistake.id, **texts, "cases": list(self.cases)}


class Replay:
    """Runs a mistake where the answer ran, and stops at the first difference."""

    def __init__(self, mistake: Local, recorded: list[Exchange]) -> None:
        self._mistake, self._recorded, self._at = mistake, recorded, 0

    def request(self, header: dict[str, Any], tensors: dict[str, torch.Tensor]) -> Reply:
        """Do one operation. Raises Different, or Reproduced after the last one."""
        recorded = self._recorded[self._at]
        self._at += 1
        try:
            reply, out = self._mistake.request(header, tensors)
        except AnswerError as error:
            reply, out = {"kind": "missing", "message": str(error)}, {}
        except Exception as error:  # noqa: BLE001 - a mistake may raise whatever an answer may
            reply, out = {"kind": "error", "type": type(error).__name__, "message": str(error)}, {}
        if not _same(reply, out, recorded):
            raise Different
        if self._at == len(self._recorded):
            raise Reproduced
        return reply, out


def diagnose(grading: Grading, outcomes: list[CaseOutcome]) -> list[Diagnosis]:
    """Return the mistakes that reproduce what the answer did, the most telling first; empty where none does."""
    failing = [case for case in outcomes if case.failure is not None and _comparable(case)]
    passing = [case for case in outcomes if case.outcome == "passed" and _comparable(case)]
    if not failing or grading.load_failure is not None:
        return []
    few = [*_first_of_each_family(failing, FAILING_PER_FAMILY), *_first_of_each_family(passing, PASSING_PER_FAMILY)]
    fitting = [(m, i) for m, i in _implementations(grading) if all(_reproduces(grading, i, case) for case in few)]
    if len(fitting) > 1:  # a closer look decides between them
        closer = [(m, i) for m, i in fitting if all(_reproduces(grading, i, case) for case in (*failing, *passing))]
        fitting = closer or fitting
    return [Diagnosis(mistake, tuple(case.id for case in failing)) for mistake, _ in fitting]


def _implementations(grading: Grading) -> Iterator[tuple[Mistake, Local]]:
    for mistake in load(grading.kata):
        yield mistake, Local(mistake.applied_to(grading.reference_text), f"mistake {mistake.id}")


def _comparable(case: CaseOutcome) -> bool:
    check = case.check
    if check is None or case.function is None or not check.exchanges or check.variant.device != "cpu":
        return False
    return all(exchange.reply["kind"] in COMPARABLE for exchange in check.exchanges)


def _first_of_each_family(cases: list[CaseOutcome], most: int) -> list[CaseOutcome]:
    return [case for _, family in groupby(cases, key=lambda case: case.family) for case in list(family)[:most]]


def _reproduces(grading: Grading, implementation: Local, case: CaseOutcome) -> bool:
    assert case.check is not None
    assert case.function is not None
    original = case.check
    check = Check(grading, original.variant, original.numbers.again(), Replay(implementation, original.exchanges))
    try:
        case.function(check, Numbers(grading.seed, case.base))
    except Reproduced:
        return True
    except (Different, Failure, Satisfied):
        return False
    return False


def _same(reply: dict[str, Any], tensors: dict[str, torch.Tensor], recorded: Exchange) -> bool:
    theirs = recorded.reply
    if reply["kind"] != theirs["kind"]:
        return False
    if reply["kind"] == "error":
        return bool(reply["type"] == theirs.get("type"))
    if reply["kind"] == "built":
        return bool(reply["parameters"] == theirs.get("parameters"))
    if reply["kind"] != "value":
        return True
    tree = Unpacker(tensors)
    if sorted(reply["modified"]) != sorted(theirs.get("modified", [])) or not agree(tree.unpack(reply["value"]), recorded.value):
        return False
    if reply["seen"].get("forbidden") and not theirs["seen"].get("forbidden"):
        return False
    grads = {name: tree.unpack(node) for name, node in reply.get("grads", [])}
    return all(name in grads and agree(grads[name], grad) for name, grad in recorded.grads.items() if name in grads)
