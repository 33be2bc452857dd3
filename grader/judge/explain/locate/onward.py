"""From which steps on an answer does what the reference does: with their numbers in it, it comes to the same result.

Then nothing behind them is to blame. Of a loop, or of layers one after the other, all the steps of one statement are
taken together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Final

import torch

from grader.judge.explain.locate.match import many, merges, near, plain
from grader.judge.explain.locate.traces import NUMBERS, Step, Trace
from grader.transport.wire import dtype_name

NUMBERS_NAME: Final = dtype_name(NUMBERS)
BOOL: Final = "bool"
MOST_TOGETHER: Final = 64
"""So many steps of one statement are taken together."""
MOST_TRIES: Final = 40
"""So many statements of the reference are tried for one of the answer."""

LEAST_OF_A_MASK: Final = 12
"""A mask of fewer places may lead to the same as another one."""

Series = tuple[int, ...]
"""The steps that one operation of one statement made, time after time."""


class Onward:
    """The steps of an answer whose numbers are put into the reference."""

    def __init__(self, reference: Trace, answer: Trace, slack: float) -> None:
        """``slack``: how far numbers may be apart, beside the largest of them."""
        self._reference, self._answer, self._slack = reference, answer, slack
        self._theirs = _series(reference)

    def series(self, steps: set[int]) -> list[Series]:
        """Return the steps of an answer that one statement made more than once, and all of which are among these."""
        return [one for one in sorted(_series(self._answer)) if 1 < len(one) <= MOST_TOGETHER and steps.issuperset(one)]

    def right_from(self, mine: Series, end: int, goal: int, wanted: set[int]) -> Series:
        """Return the steps in whose place the reference, too, comes from these numbers to the result of the answer.

        None where it does so in no place; ``wanted``: the steps of the reference that are looked at.
        """
        result, playback = self._answer.steps[end].value, self._reference.playback
        values = [self._answer.steps[number].value for number in mine]
        if result is None or playback is None or goal in mine:
            return ()
        known = [value for value in values if value is not None]
        sure = any(_is_sure(value) for value in known if value.is_floating_point() or _is_sure(result))
        if len(known) < len(values) or not (sure or (result.is_floating_point() and _is_sure(result))):
            return ()
        for theirs in self._like(mine, goal, wanted):
            if not sure and not self._are_named_alike(mine, theirs):  # from few numbers much leads to the same
                continue
            for placed in self._placed(theirs, known):
                if self._leads_to(result, goal, placed) and not self._is_made_later(mine, theirs):
                    return theirs
        for placed in self._joined(known, goal, wanted) if sure and len(mine) > 1 else ():
            if self._leads_to(result, goal, placed):
                return tuple(placed)
        return ()

    def _leads_to(self, result: torch.Tensor, goal: int, placed: dict[int, torch.Tensor]) -> bool:
        """Whether the reference comes to the result of the answer with these numbers in it."""
        came = self._reference.playback.again(goal, placed, in_place=True) if self._reference.playback else None
        return came is not None and came.shape == result.shape and near(plain(result), plain(came), self._slack)

    def _is_made_later(self, mine: Series, theirs: Series) -> bool:
        """Whether the answer goes on to what the reference has in that place: then these only lead there."""
        if len(mine) > 1:
            return False
        wanted = self._reference.steps[theirs[0]]
        return wanted.value is not None and any(
            step.operation == wanted.operation
            and step.shape == wanted.shape
            and step.value is not None
            and near(plain(step.value), plain(wanted.value), self._slack)
            for step in self._answer.steps[mine[0] + 1 :]
        )

    def _joined(self, values: list[torch.Tensor], goal: int, wanted: set[int]) -> Iterator[dict[int, torch.Tensor]]:
        """Yield what one statement made time after time as one tensor, and steps of the reference it may stand for.

        A head, a row or a token at a time: side by side along one axis they are what the reference makes at once.
        """
        first, tried = values[0], 0
        if any(value.shape != first.shape or value.dtype != first.dtype for value in values):
            return
        size, dtype = len(values) * first.numel(), BOOL if first.dtype == torch.bool else NUMBERS_NAME
        for number in sorted(wanted):
            theirs = self._reference.steps[number]
            if number >= goal or theirs.dtype != dtype or math.prod(theirs.shape) != size:
                continue
            for axis in range(first.dim() + 1):
                whole = torch.stack(values, axis)
                if _merged(whole.shape, theirs.shape) and tried < MOST_TRIES:
                    tried += 1
                    yield from self._placed((number,), [whole])

    def _placed(self, theirs: Series, values: list[torch.Tensor]) -> Iterator[dict[int, torch.Tensor]]:
        """Yield the numbers of steps in the place of the reference's; masks also the other way round."""
        pairs = [(n, value) for one, value in zip(theirs, values, strict=True) for n in self._twins(one)]
        yield {number: _laid(value, self._reference.steps[number]) for number, value in pairs}
        if all(value.dtype == torch.bool for value in values):
            yield {number: _laid(~value, self._reference.steps[number]) for number, value in pairs}

    def _twins(self, number: int) -> list[int]:
        """Return the steps of the reference that make the same mask of the same; others stand for themselves."""
        every, step = self._reference.steps, self._reference.steps[number]
        if step.dtype != BOOL or not step.reads:
            return [number]
        return [n for n, one in enumerate(every) if (one.operation, one.reads) == (step.operation, step.reads)]

    def _are_named_alike(self, mine: Series, theirs: Series) -> bool:
        """Whether steps of both are called the same, or made by the same operation."""
        one, two = self._answer.steps[mine[0]], self._reference.steps[theirs[0]]
        return one.operation == two.operation or bool(one.name and one.name == two.name)

    def _like(self, mine: Series, goal: int, wanted: set[int]) -> Iterator[Series]:
        """Yield those steps of the reference in whose place these can stand, of equal names first."""
        steps = [self._answer.steps[number] for number in mine]
        every = self._reference.steps
        found: list[Series]
        if len(mine) == 1:
            found = [(number,) for number in sorted(wanted) if _can_stand_for(steps[0], every[number])]
        else:
            among = (one for one in self._theirs if len(one) == len(mine) and not wanted.isdisjoint(one))
            fitting = (
                one
                for one in among
                if all(_can_stand_for(step, every[number]) for step, number in zip(steps, one, strict=True))
            )
            found = sorted(fitting, key=lambda one: every[one[0]].name != steps[0].name)
        yield from (one for one in found[:MOST_TRIES] if max(one) < goal)


def _series(trace: Trace) -> list[Series]:
    """Return what each operation of each statement made, time after time."""
    found: dict[tuple[int, str, int], list[int]] = {}
    seen: dict[tuple[int, int, str], int] = {}
    for number, step in enumerate(trace.steps):
        if not step.line:
            continue
        again = step.at, step.line, step.operation
        seen[again] = seen.get(again, 0) + 1
        found.setdefault((step.line, step.operation, seen[again]), []).append(number)
    return [tuple(one) for one in found.values()]


def _can_stand_for(mine: Step, theirs: Step) -> bool:
    """Whether a step can be put in the place of one of the reference: neighbouring axes may be merged."""
    if mine.value is None or theirs.dtype not in (NUMBERS_NAME, BOOL):
        return False
    if (theirs.dtype == BOOL) != (mine.value.dtype == torch.bool):
        return False
    same = mine.shape == theirs.shape
    return same or (math.prod(mine.shape) == math.prod(theirs.shape) and _merged(mine.shape, theirs.shape))


def _merged(mine: Iterable[int], theirs: Iterable[int]) -> bool:
    return merges(mine, theirs) or merges(theirs, mine)


def _is_sure(value: torch.Tensor) -> bool:
    """Whether a tensor is no other one by chance: many numbers, or a mask that hides some and shows some."""
    if value.dtype == torch.bool:
        return value.numel() >= LEAST_OF_A_MASK and bool(value.any()) and not bool(value.all())
    return value.dtype.is_floating_point and many(plain(value))


def _laid(value: torch.Tensor, theirs: Step) -> torch.Tensor:
    return (value if value.dtype == torch.bool else value.to(NUMBERS)).reshape(theirs.shape)
