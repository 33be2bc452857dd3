"""What becomes of a step: who goes on with it, how, and whether it did anything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import torch

from grader.judge.explain.locate.traces import Trace

KINDS: Final = {
    "mm": ("mm", "bmm", "addmm", "baddbmm", "mv", "dot", "addmv"),
    "mul": ("mul", "div"),
    "add": ("add", "sub", "rsub"),
    "sum": ("sum", "mean", "cumsum"),
}
FUSED: Final = {
    **dict.fromkeys(("addcdiv", "addcmul", "lerp"), frozenset(("mul", "add"))),
    **dict.fromkeys(("addmm", "baddbmm", "addmv"), frozenset(("mm", "add"))),
}
"""Operations that do several things at once, and which."""
EACH: Final = frozenset(("mul", "add", "neg", "masked_fill", "where", "pow", "exp"))
"""Operations that do something to each number by itself."""
SELECTS: Final = frozenset(
    ("slice", "select", "split", "split_with_sizes", "unbind", "narrow", "chunk", "diagonal", "as_strided")
)
"""Operations that leave something away."""
RESERVES: Final = frozenset(("zeros", "zeros_like", "new_zeros", "empty", "empty_like", "new_empty", "empty_strided"))
OVERWRITES: Final = frozenset(("copy_", "index_put_", "index_copy_", "scatter_"))
"""Operations after which nothing is left of the numbers in their place."""
NEGATES: Final = frozenset(("bitwise_not", "logical_not", "_to_copy", "clone", "eq", "ne"))
"""Operations after which a mask lies as it did."""


def identical(one: torch.Tensor, two: torch.Tensor) -> bool:
    """Whether two tensors have the same numbers, bit for bit; NaN is NaN."""
    return one.dtype == two.dtype and bool(torch.equal(one.nan_to_num(), two.nan_to_num()))


def does_nothing(trace: Trace, number: int) -> bool:
    """Whether a step computes something, and what comes out is what went in."""
    step = trace.steps[number]
    if step.value is None or step.moves or step.is_source:
        return False
    values = (trace.steps[read].value for read in step.reads)
    return any(v is not None and v.shape == step.value.shape and identical(v, step.value) for v in values)


def readers(trace: Trace) -> dict[int, list[int]]:
    """Return which steps read each step."""
    found: dict[int, list[int]] = {}
    for number, step in enumerate(trace.steps):
        for read in step.reads:
            found.setdefault(read, []).append(number)
    return found


def users(trace: Trace, read_by: dict[int, list[int]], number: int) -> set[int]:
    """Return the steps that compute something with a tensor, or with the same numbers in another order."""
    found, left = set[int](), [number]
    while left:
        for user in read_by.get(left.pop(), ()):
            (left.append if trace.steps[user].moves else found.add)(user)
    return found


def only_reserves(trace: Trace, number: int, read_by: dict[int, list[int]]) -> bool:
    """Whether a step makes a tensor of zeros, or of nothing yet, of which others overwrite all that is read of it."""
    if trace.steps[number].operation not in RESERVES:
        return False
    left, seen = [number], set[int]()
    while left:
        here = left.pop()
        for user in read_by.get(here, ()):
            step = trace.steps[user]
            if user not in seen and step.is_view:
                left.append(user)
            elif not step.is_view and step.operation not in OVERWRITES:
                return False
            seen.add(user)
    return any(trace.steps[user].operation in OVERWRITES for user in seen)


def kind_of(operation: str) -> str:
    """Return the name of an operation, one for those that do the same."""
    return next((kind for kind, names in KINDS.items() if operation.rstrip("_") in names), operation.rstrip("_"))


def kinds_of(operation: str) -> frozenset[str]:
    """Return the kinds of all that an operation does at once."""
    return FUSED.get(operation.rstrip("_"), frozenset((kind_of(operation),)))


def foreign(trace: Trace, steps: Iterable[int], reference: Trace) -> list[int]:
    """Return those of some steps that compute what the reference does nowhere: add to it where it multiplies, say."""
    known = frozenset[str]().union(*(kinds_of(step.operation) for step in reference.steps))
    own = (n for n in sorted(steps) if trace.steps[n].line and not trace.steps[n].moves)
    return [n for n in own if not kinds_of(trace.steps[n].operation) <= known]


def used(trace: Trace) -> set[int]:
    """Return the steps with whose numbers something is computed, whole and not in part."""
    found: set[int] = set()
    read = readers(trace)
    for number in range(len(trace.steps) - 1, -1, -1):
        step = trace.steps[number]
        if step.is_within:
            found.add(number)
        elif not step.moves or (number in found and step.operation not in SELECTS):
            found.update(step.reads)
        elif number not in read:
            found.update((number, *step.reads))  # it is handed back
    return found
