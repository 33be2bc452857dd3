"""Naming the mistake: which entries of the kata's bank behave, on the same calls, exactly as the answer did.

A case is run again with the mistake in place of the answer. An entry is named when it reproduces every operation of
the failing cases, values, gradients, dtypes, changed inputs and errors alike, and of the passing ones as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from grader.judge.cases import DERIVED_FROM, CaseOutcome, again
from grader.judge.compare import agree
from grader.judge.failure import Failure, Satisfied
from grader.judge.grading import Grading
from grader.judge.lanes import Header, Local, Tensors
from grader.judge.mistakes import Mistake, load
from grader.judge.observed import tensor_nodes
from grader.judge.results import Exchange
from grader.probes import simdevice
from grader.sandbox.executor import AnswerError
from grader.sandbox.host import Reply
from grader.sandbox.observe import SIMULATED
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

    def __init__(self, mistake: Local, recorded: list[Exchange], *, to_the_end: bool) -> None:
        self._mistake, self._recorded, self._to_the_end = mistake, recorded, to_the_end
        self._at = 0

    def submit(self, header: Header, tensors: Tensors) -> Reply:
        """Do one operation. Raises Different, or Reproduced after the last one."""
        if self._at == len(self._recorded):
            raise Different
        recorded = self._recorded[self._at]
        self._at += 1
        try:
            reply, out = self._mistake.request(header, tensors)
        except AnswerError as error:
            reply, out = {"kind": "missing", "message": str(error)}, {}
        except Exception as error:  # noqa: BLE001 - a mistake may raise whatever an answer may
            bases = [f"{base.__module__}.{base.__qualname__}" for base in type(error).__mro__]
            reply, out = {"kind": "error", "type": type(error).__name__, "message": str(error), "bases": bases}, {}
        if not _same(reply, out, recorded):
            raise Different
        if self._at == len(self._recorded) and not self._to_the_end:
            raise Reproduced
        return reply, out

    def wait(self, asked: Any) -> Reply:
        """Return what was done already."""
        done: Reply = asked
        return done


def diagnose(grading: Grading, outcomes: list[CaseOutcome]) -> list[Diagnosis]:
    """Return the mistakes that reproduce what the answer did, the most telling first; empty where none does."""
    failing = [case for case in outcomes if case.failure is not None and _comparable(case)]
    passing = [case for case in outcomes if case.outcome == "passed" and not case.aside and _comparable(case)]
    if not failing or grading.answer.load_failure is not None or all(_is_stub(case) for case in failing):
        return []
    if any(case.variant.device == SIMULATED for case in failing):
        simdevice.available()
    else:
        passing = [case for case in passing if case.variant.device != SIMULATED]
    telling = [case for case in passing if case.family in DERIVED_FROM]
    few = [*_first_of_each_family(failing, FAILING_PER_FAMILY), *_first_of_each_family(telling, PASSING_PER_FAMILY)]
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
    if check is None or not check.exchanges or case.variant.device not in ("cpu", SIMULATED):
        return False
    settled = [exchange for exchange in check.exchanges if exchange.settled]
    return bool(settled) and all(exchange.reply["kind"] in COMPARABLE for exchange in settled)


def _is_stub(case: CaseOutcome) -> bool:
    return case.failure is not None and case.failure.kind == "stub"


def _first_of_each_family(cases: list[CaseOutcome], most: int) -> list[CaseOutcome]:
    return [case for _, family in groupby(cases, key=lambda case: case.family) for case in list(family)[:most]]


def _reproduces(grading: Grading, implementation: Local, case: CaseOutcome) -> bool:
    assert case.check is not None
    recorded = [exchange for exchange in case.check.exchanges if exchange.settled]
    counted = case.variant.cost and (case.failure is None or case.failure.kind == "cost")
    try:
        again(case, grading, Replay(implementation, recorded, to_the_end=counted))
    except Reproduced:
        return True
    except (Different, Satisfied):
        return False
    except Failure as failure:
        return counted and case.failure is not None and failure.kind == case.failure.kind
    return counted and case.failure is None


def _same(reply: Header, tensors: Tensors, recorded: Exchange) -> bool:
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
    if sorted(reply["modified"]) != sorted(theirs.get("modified", [])) or not agree(
        tree.unpack(reply["value"]), recorded.value
    ):
        return False
    if _habits(reply) != _habits(theirs):
        return False
    grads = {name: tree.unpack(node) for name, node in reply.get("grads", [])}
    return all(agree(grads[name], grad) for name, grad in recorded.grads.items() if name in grads)


def _habits(reply: Header) -> tuple[bool, bool, list[Any]]:
    """Whether something forbidden was called or copied to the host, and where the results live."""
    given = reply.get("seen")
    seen = given if type(given) is dict else {}
    return (
        bool(seen.get("forbidden")),
        bool(seen.get("traffic")),
        [node.get("device") for node in tensor_nodes(reply["value"])],
    )
