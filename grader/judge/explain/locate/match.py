"""Whether two steps have the same numbers, in whatever shape and order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, Final, Literal

import torch

from grader.judge.explain.locate.traces import MOVES, NUMBERS, Step, Trace

Kind = Literal["arranged", "part", "shuffled"]
"""The axes may be exchanged or merged; one place along an axis or two; any order at all."""

HIDDEN: Final = -9e3
"""What is far below all scores hides a place, whatever number it is."""
LEAST_NUMBERS: Final = 6
"""With fewer different numbers much is equal by chance."""
LEAST_FRACTIONS: Final = 3
"""So many different ones are enough where none is a whole number, and each is in its place."""
RELATIVE: Final = {"float32": 5e-5, "float64": 1e-6, "bfloat16": 4e-2, "float16": 8e-3}
CUTS: Final = frozenset(("chunk", "split", "split_with_sizes", "unbind"))
"""Operations that make parts, and leave none away."""
ROUNDINGS: Final = 4.0
MOST_AXES: Final = 5
MOST_PLACES: Final = 64
MOST_COMPARED: Final = 20_000_000
"""So many numbers are compared for one call; what comes after that is not found."""


class Matcher:
    """The steps of the reference, to be found again among those of an answer."""

    def __init__(self, reference: Trace, slack: float) -> None:
        """``slack``: how far numbers may be apart, beside the largest of them."""
        self._slack = slack
        every = sorted(enumerate(reference.steps), key=lambda one: not one[1].is_within)  # a step itself is found first
        self._steps = [(number, plain(step.value)) for number, step in every if step.value is not None]
        self._given = {number for number, step in enumerate(reference.steps) if not step.line}
        self._operations = [step.operation for step in reference.steps]
        self._floats = [(n, v) for n, v in self._steps if v.dtype == NUMBERS and many(v)]
        self._whole = any(not v.dtype.is_floating_point and v.dtype != torch.bool for _n, v in self._steps)
        self._few = [
            (n, v) for n, v in self._steps if v.dtype == NUMBERS and n not in self._given and not many(v) and _tell(v)
        ]
        self._totals = {n: float(v.abs().sum()) for n, v in self._floats}
        self._scales = {n: _scale(v) for n, v in self._floats}
        self._sorted: dict[int, torch.Tensor] = {n: v.flatten().sort().values for n, v in self._floats}
        self._left = MOST_COMPARED

    def found(self, step: Step) -> tuple[Kind, int] | None:
        """Return the step of the reference with the same numbers, the latest of those arranged like it."""
        if step.value is None or self._left <= 0:
            return None
        value, slack = plain(step.value), self._slack
        if step.is_source:
            return self._given_one(value, slack)
        if value.dtype != NUMBERS:
            return self._exact(value, step.operation if _counts_up(value) else "")
        made = not step.moves or step.operation == "lift_fresh"
        if made and (found := self._of_whole_ones(value, step.operation)) is not None:
            return found
        if not many(value):
            return self._in_place(value, slack) if made else None
        if step.moves and step.operation not in CUTS:  # who picks a part may pick another one
            return self._arranged(step, value, slack)
        found = self._arranged(step, value, slack) or self._less(value, slack)
        return None if step.moves and found is not None and found[0] == "shuffled" else found

    def _of_whole_ones(self, value: torch.Tensor, operation: str) -> tuple[Kind, int] | None:
        """Places and distances, which the reference has as whole numbers."""
        if not self._whole or not value.numel() or not bool((value.isfinite() & (value == value.round())).all()):
            return None
        whole = value.long()
        return self._exact(whole, operation if _counts_up(whole) else "")

    def alike(self, numbers: set[int]) -> set[int]:
        """Return the steps that have the same numbers as one of these, in whatever order, and these."""
        found = set(numbers)
        for number in numbers & self._sorted.keys():
            mine, total = self._sorted[number], self._totals[number]
            room = 1e-6 * mine.numel() * self._scales[number]
            near_ones = [n for n, other in self._totals.items() if abs(other - total) <= room]
            found.update(other for other in near_ones if near(mine, self._sorted[other], 1e-6))
        return found

    def first_like(self, number: int) -> int:
        """Return the first step with the same numbers."""
        value = next((value for other, value in self._steps if other == number), None)
        if value is None or number in self._sorted:
            return min(self.alike({number}))
        same = (n for n, other in self._steps if other.dtype == value.dtype and other.shape == value.shape)
        by_number = dict(self._steps)
        return next((n for n in same if torch.equal(by_number[n], value)), number)

    def _given_one(self, value: torch.Tensor, slack: float) -> tuple[Kind, int] | None:
        """What was there before the call is right where the reference had it, or makes it."""
        for number, theirs in self._steps:
            if value.shape != theirs.shape or value.dtype != theirs.dtype:
                continue
            same = near(value, theirs, slack) if value.dtype == NUMBERS else torch.equal(value, theirs)
            if same and (number in self._given or (theirs.dtype == NUMBERS and many(theirs))):
                return "arranged", number
        return self._exact(value) if value.dtype != NUMBERS else None

    def _exact(self, value: torch.Tensor, operation: str = "") -> tuple[Kind, int] | None:
        """Masks and tokens: no axis may be elsewhere, since that is what goes wrong with them.

        ``operation``: what alone has made it, where many a thing has such numbers.
        """
        if not value.numel() or not bool((value != value.flatten()[0]).any()):
            return None
        mine = without_ones(value)
        for number, theirs in reversed(self._steps):
            if theirs.dtype == value.dtype and theirs.numel() == value.numel():
                other = without_ones(theirs)
                made_so = operation in ("", self._operations[number]) or operation in MOVES
                if made_so and mine.shape == other.shape and torch.equal(mine, other):
                    return "arranged", number
        return None

    def _in_place(self, value: torch.Tensor, slack: float) -> tuple[Kind, int] | None:
        """A few numbers, each in its place."""
        if not self._few or not _tell(value):
            return None
        mine = without_ones(value)
        same = (n for n, theirs in reversed(self._few) if near(mine, without_ones(theirs), slack))
        return next((("arranged", number) for number in same), None)

    def _arranged(self, step: Step, value: torch.Tensor, slack: float) -> tuple[Kind, int] | None:
        total = float(value.abs().sum())
        for number, theirs in reversed(self._floats):
            if not self._may_be(number, theirs, value, total):
                continue
            if arranged(value, theirs, slack, splits=not step.moves):
                return "arranged", number
        return None

    def _may_be(self, number: int, theirs: torch.Tensor, value: torch.Tensor, total: float) -> bool:
        """Whether a step of the reference has so many numbers, and they come to the same."""
        if theirs.numel() != value.numel() or self._left <= 0:
            return False
        if abs(total - self._totals[number]) > self._slack * theirs.numel() * self._scales[number]:
            return False
        self._left -= 4 * theirs.numel()
        return True

    def _less(self, value: torch.Tensor, slack: float) -> tuple[Kind, int] | None:
        ordered, total = value.flatten().sort().values, float(value.abs().sum())
        for number, theirs in reversed(self._floats):
            if self._may_be(number, theirs, value, total) and near(ordered, self._sorted[number], slack):
                return "shuffled", number
        for number, theirs in reversed(self._floats):
            if theirs.numel() <= value.numel() or not self._holds(number, ordered, slack):
                continue
            self._left -= 8 * theirs.numel()
            if any(arranged(value, part, slack, splits=True) for part in parts(theirs, value.numel())):
                return "part", number
        return None

    def _holds(self, number: int, ordered: torch.Tensor, slack: float) -> bool:
        """Whether the numbers of a step hold the smallest, the middle and the largest of these."""
        theirs = self._sorted[number]
        probes = ordered[[0, len(ordered) // 2, -1]].contiguous()
        at = torch.searchsorted(theirs, probes).clamp_(0, len(theirs) - 1)
        room = slack * self._scales[number]
        return bool(
            ((theirs[at] - probes).abs() <= room).logical_or_((theirs[(at - 1).clamp_(0)] - probes).abs() <= room).all()
        )


def plain(value: torch.Tensor) -> torch.Tensor:
    """Return numbers in float64 in which hidden places and NaN are certain numbers; others as they are."""
    if value.is_complex():  # pairs of numbers, as they lie in memory
        value = torch.view_as_real(value.resolve_conj())
    if not value.dtype.is_floating_point:
        return value if value.dtype == torch.bool else value.long()
    value = value.to(NUMBERS)
    if not value.numel():
        return value
    filled = value < (HIDDEN if float(value.nan_to_num(posinf=0.0).max()) < -HIDDEN else -math.inf)
    filled |= value == -math.inf
    scale = _scale(value[~filled])
    dead = filled & filled.all(-1, keepdim=True) & value.isfinite() if value.dim() else filled
    value = torch.where(filled, torch.full_like(value, -math.inf), value)
    value = torch.where(dead, torch.full_like(value, -4.5 * scale), value)  # there it matters which number it is
    return torch.nan_to_num(value, nan=-3.5 * scale, neginf=-2.5 * scale, posinf=2.5 * scale)


def _counts_up(value: torch.Tensor) -> bool:
    """Whether whole numbers are places, one after the other: 0, 1, 2."""
    return value.dtype != torch.bool and torch.equal(value.flatten(), torch.arange(value.numel()))


def _scale(value: torch.Tensor) -> float:
    finite = value[value.isfinite()]
    return max(float(finite.abs().max()), 1e-3) if finite.numel() else 1.0


def many(value: torch.Tensor) -> bool:
    """Whether there are so many different numbers that an equal tensor is no chance."""
    if value.numel() < LEAST_NUMBERS:
        return False
    return len(torch.unique(value.flatten()[:400])) >= LEAST_NUMBERS


def _tell(value: torch.Tensor) -> bool:
    """Whether there are a few different numbers, none of them a whole one: what nothing else comes to by chance."""
    if value.numel() > 400 or not bool(value.isfinite().all()) or bool((value == value.round()).any()):
        return False
    return len(torch.unique(value)) >= LEAST_FRACTIONS


def near(mine: torch.Tensor, theirs: torch.Tensor, slack: float) -> bool:
    """Whether two tensors of one shape have the same numbers, as far as a dtype tells; truth values are no numbers."""
    if torch.bool in (mine.dtype, theirs.dtype):
        return mine.dtype == theirs.dtype and torch.equal(mine, theirs)
    return mine.shape == theirs.shape and bool(((mine - theirs).abs() <= slack * _scale(theirs)).all())


def rounded(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return numbers as far from what they are as rounding along the way may bring them: a few last digits."""
    signs = torch.ones_like(value).flatten()
    signs[::2] = -1.0
    return value * (1.0 + ROUNDINGS * torch.finfo(dtype).eps * signs.view_as(value))


def without_ones(value: torch.Tensor) -> torch.Tensor:
    """Return a tensor without its axes of size 1."""
    return value.reshape([size for size in value.shape if size != 1])


def arranged(mine: torch.Tensor, theirs: torch.Tensor, slack: float, *, splits: bool) -> bool:
    """Whether one is the other with axes exchanged and then merged; with ``splits``, or split.

    What is split wrongly lies in memory like what is split rightly: only who computes something new is given that.
    """
    one, two = without_ones(mine), without_ones(theirs)
    if one.shape == two.shape and near(one, two, slack):
        return True
    if two.dim() > MOST_AXES or one.dim() > MOST_AXES:
        return False
    fits = merges if splits else merges_in_front
    if any(near(_as(turned, one), one, slack) for turned in _turned(two) if fits(turned.shape, one.shape)):
        return True
    return splits and any(
        near(_as(turned, two), two, slack) for turned in _turned(one) if merges(turned.shape, two.shape)
    )


def _turned(value: torch.Tensor) -> Iterator[torch.Tensor]:
    return (value.permute(order) for order in itertools.permutations(range(value.dim())))


def _as(value: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return value.reshape(like.shape)


def merges(sizes: Any, into: Any) -> bool:
    """Whether axes of these sizes, neighbours merged, have those sizes."""
    at = 0
    for size in into:
        product = 1
        while product < size and at < len(sizes):
            product *= sizes[at]
            at += 1
        if product != size:
            return False
    return at == len(sizes)


def merges_in_front(sizes: Any, into: Any) -> bool:
    """Whether that is so with the last axis left alone: the order in which features are merged matters."""
    return merges(sizes, into) and (not len(into) or sizes[-1] == into[-1])


def parts(value: torch.Tensor, numbers: int, depth: int = 2) -> Iterator[torch.Tensor]:
    """Yield what lies at one place along an axis, or two, and has so many numbers."""
    for axis, size in enumerate(value.shape):
        rest = value.numel() // size if size else 0
        if size < 2 or size > MOST_PLACES or rest < numbers or rest % numbers:
            continue
        for place in range(size):
            part = value.select(axis, place)
            if rest == numbers:
                yield part
            elif depth > 1:
                yield from parts(part, numbers, depth - 1)


def factor(mine: torch.Tensor, theirs: torch.Tensor, slack: float) -> float | None:
    """Return by what factor one is the other, hidden places apart; None where it is not, or where it is 1."""
    if mine.shape != theirs.shape or not many(theirs):
        return None
    seen = mine.isfinite() & theirs.isfinite() & (mine > HIDDEN) & (theirs > HIDDEN)
    if not torch.equal(seen, theirs.isfinite() & (theirs > HIDDEN)) or int(seen.sum()) < LEAST_NUMBERS:
        return None
    one, two = mine[seen].to(NUMBERS), theirs[seen].to(NUMBERS)
    norm = float((two * two).sum())
    by = float((one * two).sum()) / norm if norm else 0.0
    if not math.isfinite(by) or abs(by) < 1e-6 or abs(by - 1) < 1e-3:
        return None
    return by if near(one, by * two, slack) else None
