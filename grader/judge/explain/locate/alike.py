"""Steps that do the same to the same: an operation of the answer and one of the reference whose inputs are the same.

Few numbers, or none but 0 and 1, are no proof by themselves; beside what they were made of they are.
"""

from __future__ import annotations

import torch

from grader.judge.explain.locate.match import near, plain
from grader.judge.explain.locate.traces import NUMBERS, Step, Trace
from grader.judge.explain.locate.uses import KINDS, identical

COPIES = frozenset(("clone", "_to_copy", "contiguous", "detach", "alias", "lift_fresh"))
"""Operations whose result is what went in."""

LAYS = frozenset(("view", "_unsafe_view", "t"))
"""Operations of which nothing but the shape of the result has to be known."""

SURE = COPIES | {*KINDS["mm"], "t", "transpose"}
"""Operations that make the same of the same."""

Same = tuple[str, tuple[int, ...]]
"""An operation, and what its inputs are known as."""


def alike(answer: Trace, reference: Trace, slack: float) -> dict[int, int]:
    """Return the steps of the reference that steps of an answer repeat, from what both were given on."""
    known = _known(reference)
    by_making: dict[Same, list[int]] = {}
    given: dict[tuple[int, ...], list[int]] = {}
    looks = _Looks(slack)
    for number, step in enumerate(reference.steps):
        if not step.is_source and not _is_copy(step):
            by_making.setdefault(_making(reference, number, known), []).append(number)
        elif step.is_source and known[number] == number:
            given.setdefault(step.shape, []).append(number)
    found: dict[int, int] = {}
    seen = set[int]()
    for number, step in enumerate(answer.steps):
        if step.is_source:
            candidates = given.get(tuple(step.shape), [])
        elif _is_copy(step):
            candidates = [found[step.reads[0]]] if step.reads[0] in found else []
        elif all(read in found for read in step.reads):
            making = step.operation, tuple(sorted(known[found[read]] for read in step.reads))
            candidates = by_making.get(making, [])
        else:
            continue
        fitting = (n for n in candidates if tuple(step.shape) == tuple(reference.steps[n].shape))
        same = next((n for n in fitting if looks.same(step.value, reference.steps[n].value)), None)
        if same is None:
            continue
        found[number] = same
        known_both = step.value is not None and reference.steps[same].value is not None
        if known_both or (step.operation in SURE and seen.issuperset(step.reads)):
            seen.add(number)  # what nobody has seen may have been made with other numbers of Python's
    return {number: other for number, other in found.items() if number in seen and not answer.steps[number].is_source}


def _known(reference: Trace) -> list[int]:
    """Return what each step of the reference is known as.

    Equal inputs are one, and so is what lies alike of the same; copies are what they are made of.
    """
    known: list[int] = []
    laid: dict[tuple[Same, tuple[int, ...]], int] = {}
    for number, step in enumerate(reference.steps):
        if not step.reads:
            others = (n for n in range(number) if not reference.steps[n].reads)
            same = (n for n in others if _made_the_same(step, reference.steps[n]))
            known.append(next(same, number))
        elif _is_copy(step):
            known.append(known[step.reads[0]])
        elif step.operation in LAYS:
            known.append(laid.setdefault((_making(reference, number, known), tuple(step.shape)), number))
        else:
            known.append(number)
    return known


def _is_copy(step: Step) -> bool:
    """Whether its result is what went in; what is made of Python's numbers hangs on whatever they were taken from."""
    return step.operation in COPIES and len(step.reads) == 1


def _made_the_same(one: Step, two: Step) -> bool:
    if one.operation != two.operation or one.shape != two.shape or (one.is_source and two.value is None):
        return False
    if one.value is None or two.value is None:
        return one.value is two.value
    return identical(one.value, two.value)


def _making(trace: Trace, number: int, known: list[int]) -> Same:
    step = trace.steps[number]
    return step.operation, tuple(sorted(known[read] for read in step.reads))


class _Looks:
    """How tensors look beside each other; each is looked at once."""

    def __init__(self, slack: float) -> None:
        self._slack = slack
        self._plain: dict[int, torch.Tensor] = {}

    def same(self, mine: torch.Tensor | None, theirs: torch.Tensor | None) -> bool:
        """Whether two tensors are the same, as far as they are known."""
        if mine is None or theirs is None:
            return True
        if mine.shape != theirs.shape:
            return False
        one, two = self._of(mine), self._of(theirs)
        if one.dtype != two.dtype:
            return False
        return near(one, two, self._slack) if one.dtype == NUMBERS else bool(torch.equal(one, two))

    def _of(self, value: torch.Tensor) -> torch.Tensor:
        if id(value) not in self._plain:  # the traces keep them all this while
            self._plain[id(value)] = plain(value)
        return self._plain[id(value)]
