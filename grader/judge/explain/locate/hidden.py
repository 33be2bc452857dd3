"""What is taken out of a result and stays in its gradient: NaN, or an infinity: 0 times that is NaN on the way back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from grader.judge.explain.locate.traces import Step, Trace
from grader.language import marked

TAKES_OUT: Final = frozenset(("where", "masked_fill", "clamp", "clamp_max", "minimum", "nan_to_num"))
"""Operations that may leave an infinity out of what they hand on."""


@dataclass(frozen=True, slots=True)
class TakenOut:
    """Steps that take something out, and those that bring it, with what is said of them."""

    steps: list[Step]
    title: str
    sentence: str


def taken_out(trace: Trace, numbers: Iterable[int]) -> TakenOut | None:
    """Return what is taken out on the way to a result whose gradient is NaN, if there is anything."""
    own = sorted(numbers)
    if nan := _nan(trace, own):
        title = marked("NaN is taken out of the result, not out of its gradient")
        return TakenOut(
            nan, title, marked("NaN comes up on the way and is taken out again; its gradient stays NaN: {where}.")
        )
    if infinite := _infinity(trace, own):
        title = marked("an infinity is taken out of the result, not out of its gradient")
        sentence = marked(
            "An infinity comes up on the way and is taken out again; its gradient is 0 times that, NaN: {where}."
        )
        return TakenOut(infinite, title, sentence)
    return None


def _nan(trace: Trace, own: list[int]) -> list[Step]:
    """Return the steps that take NaN out, those with which it begins, and those that bring the infinity before it.

    Behind them stand those that only hand the infinity on.
    """
    nan, infinite = set[int](), set[int]()
    for number, step in enumerate(trace.steps):
        if step.value is not None and step.value.dtype.is_floating_point:
            nan.update([number] if bool(step.value.isnan().any()) else [])
            infinite.update([number] if bool(step.value.isinf().any()) else [])
    out = [trace.steps[n] for n in own if n not in nan and not nan.isdisjoint(trace.steps[n].reads)]
    first = [trace.steps[n] for n in own if n in nan and nan.isdisjoint(trace.steps[n].reads)]
    brought = [trace.steps[n] for n in own if n in infinite and infinite.isdisjoint(trace.steps[n].reads)]
    between = [trace.steps[n] for n in own if n in infinite - nan and not infinite.isdisjoint(trace.steps[n].reads)]
    ends = nan.intersection(own) and not any(n in nan for n in own[-1:])
    return [*out, *first, *brought, *between] if ends and out else []


def _infinity(trace: Trace, own: list[int]) -> list[Step]:
    """Return the steps that leave an infinity out which was computed, and those that compute it."""
    every = trace.steps
    infinite = {n for n, step in enumerate(every) if step.line and step.reads and _is_infinite(step)}
    infinite.update(read for n in infinite.copy() if every[n].moves for read in every[n].reads)  # kept for the way back
    out = [
        n
        for n in own
        if every[n].operation in TAKES_OUT and n not in infinite and infinite.intersection(every[n].reads)
    ]
    brought = [read for n in out for read in every[n].reads if read in infinite]
    return [every[n] for n in (*out, *brought)]


def _is_infinite(step: Step) -> bool:
    value = step.value
    return value is not None and value.dtype.is_floating_point and bool((value == float("inf")).any())
