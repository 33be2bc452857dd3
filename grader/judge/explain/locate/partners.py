"""Which steps of an answer should be which of the reference's: those that are in calls that are right.

A step that is another one in the call that fails is wrong, and so is nothing but it and what it was made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from grader.judge.cases.check import Check
from grader.judge.exchange.results import Exchange
from grader.judge.explain.locate.match import RELATIVE, arranged, plain
from grader.judge.explain.locate.region import Alignment
from grader.judge.explain.locate.traces import Trace, of_answer, of_reference
from grader.judge.runs.outcome import CaseOutcome
from grader.transport.wire import dtype_name, tensors_in

Key = tuple[int, str, int, int, int]
"""A line, an operation, which one of them in that line; which time it is done in a call, and how many times it is."""
Partners = Mapping[Key, frozenset[Key]]
"""Of steps of an answer those of the reference, one of which each should be."""

NONE: Final[Key] = (0, "", 0, 0, 0)
MOST_CALLS: Final = 2
MOST_PASSING: Final = 60
MOST_TIMES: Final = 16
"""What is done more often in a call is not told apart."""
LARGEST: Final = 1500
"""Calls of more numbers are not made once more."""


def keyed(trace: Trace) -> dict[int, Key]:
    """Return the steps of a call, and where each is made: calls in which it is done more often have others."""
    made: dict[tuple[int, str, int], list[int]] = {}
    seen: dict[tuple[int, int, str], int] = {}
    for number, step in enumerate(trace.steps):
        if step.line:
            again = step.at, step.line, step.operation
            seen[again] = seen.get(again, 0) + 1
            made.setdefault((step.line, step.operation, seen[again]), []).append(number)
    few = ((key, numbers) for key, numbers in made.items() if len(numbers) <= MOST_TIMES)
    return {number: (*key, at, len(numbers)) for key, numbers in few for at, number in enumerate(numbers)}


def partners(passing: Sequence[CaseOutcome], exchange: Exchange) -> Partners:
    """Learn from calls like one that fails, the largest of those that are right, which steps should be which."""
    found: dict[Key, frozenset[Key]] = {}
    for check, call in _like(passing, exchange):
        reference = of_reference(check, call)
        answer = of_answer(check, call) if reference is not None else None
        if reference is None or answer is None or answer.raised:
            continue
        alignment = Alignment(reference, answer, RELATIVE.get(dtype_name(check.variant.dtype), 0.0))
        theirs = keyed(reference)
        for number, key in keyed(answer).items():
            kind, other = alignment.anchors.get(number, ("", -1))
            same = alignment.all_alike({other}) if kind == "arranged" else set[int]()
            keys = frozenset(theirs[one] for one in same if one in theirs)
            found[key] = found.get(key, keys) & keys
    return {key: keys for key, keys in found.items() if keys}


def _like(passing: Sequence[CaseOutcome], exchange: Exchange) -> list[tuple[Check, Exchange]]:
    found: list[tuple[int, Check, Exchange]] = []
    for case in passing[:MOST_PASSING]:
        check = case.evidence.checked
        calls = [e for e in check.exchanges if e.settled and e.header["op"] == "call"] if check is not None else []
        for call in calls[-1:]:
            size = call.size or sum(leaf.numel() for leaf in tensors_in(call.want))
            alike = (call.header["method"], call.header["entry"]) == (
                exchange.header["method"],
                exchange.header["entry"],
            )
            if check is not None and alike and 0 < size <= LARGEST:
                found.append((size, check, call))
    return [one[1:] for one in sorted(found, key=lambda one: -one[0])[:MOST_CALLS]]


def first_wrong(
    known: Partners, answer: Trace, reference: Trace, steps: Iterable[int], slack: float
) -> tuple[int, int] | None:
    """Return the first of these steps that is none of those which it should be, and one that it should be."""
    mine, theirs = keyed(answer), {key: number for number, key in keyed(reference).items()}
    for number in sorted(steps):
        keys, value = known.get(mine.get(number, NONE), frozenset()), answer.steps[number].value
        if not keys or value is None or not keys <= theirs.keys():
            continue
        others = [theirs[key] for key in keys]
        values = [reference.steps[other].value for other in others]
        wanted = [one for one in values if one is not None and one.numel() == value.numel()]
        if len(wanted) < len(values):
            continue
        if not any(arranged(plain(value), plain(one), slack, splits=True) for one in wanted):
            return number, max(others)
    return None
