"""What is right among the steps of an answer, and may be to blame all the same for what goes wrong behind it.

It lies on other axes than it should, it ends too early, or something else should stand there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from grader.judge.explain.locate.match import RELATIVE, Kind
from grader.judge.explain.locate.traces import Trace
from grader.judge.explain.locate.uses import EACH, NEGATES, kind_of, kinds_of, readers, users

ADDS_AXES: Final = frozenset(("slice", "unsqueeze", "view", "reshape", "_unsafe_view", "_reshape_alias", "as_strided"))
"""Operations that may put in axes of size 1."""


class Beside:
    """The right steps of an answer, beside those that go wrong."""

    def __init__(
        self,
        reference: Trace,
        answer: Trace,
        anchors: Mapping[int, tuple[Kind, int]],
        all_alike: Callable[[set[int]], set[int]],
        reached: set[int],
    ) -> None:
        """``anchors``: the steps that are right, with those of the reference; ``reached``: what the answer makes.

        ``all_alike`` returns the steps of the reference with the same numbers, in whatever order.
        """
        self._reference, self._answer, self._reached = reference, answer, reached
        self._anchors, self._all_alike = anchors, all_alike

    def stop_short(self, steps: set[int], met: set[int]) -> list[int]:
        """Return right steps of which the reference makes something else first: they may end too early."""
        every, found = self._answer.steps, list[int]()
        mine_read, theirs_read = readers(self._answer), readers(self._reference)
        for number in sorted(met):
            kind, other = self._anchors[number]
            if not every[number].line or kind != "arranged" or not every[number].dtype.startswith(("f", "b")):
                continue
            mine = {
                k for user in self._next(number, mine_read) if user in steps for k in kinds_of(every[user].operation)
            }
            theirs = {
                kind
                for one in self._all_alike({other})
                for user in users(self._reference, theirs_read, one)
                for kind in kinds_of(self._reference.steps[user].operation)
            }
            if theirs and mine and not mine & theirs:
                found.append(number)
        return found

    def _lies_elsewhere(self, number: int, other: int) -> bool:
        """Whether a tensor has its axes of size 1 where the reference has none: it meets other axes than it should.

        Numbers may lie in any order as long as all others do; only who has put in axes of size 1 is looked at.
        """
        step, shapes = self._answer.steps[number], {self._reference.steps[n].shape for n in self._all_alike({other})}
        if not step.line or step.shape in shapes or 1 not in step.shape:
            return False
        if step.dtype not in RELATIVE:
            return True
        lengths = [size for size in step.shape if size != 1]
        same = [shape for shape in shapes if [size for size in shape if size != 1] == lengths]
        return step.operation in ADDS_AXES and bool(same) and all(_broadcast(step.shape) != _broadcast(s) for s in same)

    def elsewhere(self, numbers: Iterable[int]) -> list[int]:
        """Return the steps that put tensors on other axes than those of the reference, of these and those before."""
        every, found = self._answer.steps, list[int]()
        left = list(numbers)
        while left:
            number = left.pop(0)
            number = self._seen(number)
            while every[number].reads and every[number].operation in NEGATES:
                number = self._seen(every[number].reads[0])  # back to the mask
            if number not in self._anchors or number in found:
                continue
            if self._lies_elsewhere(number, self._anchors[number][1]):
                found.append(number)
                left += every[number].reads
        return found

    def _seen(self, number: int) -> int:
        """Return the step whose numbers a step only puts elsewhere, where nobody knows how they lie there."""
        every = self._answer.steps
        while every[number].value is None and every[number].moves and every[number].reads:
            number = every[number].reads[0]
        return number

    def strangers(self, steps: Iterable[int], met: Iterable[int], goal: int | None) -> frozenset[int]:
        """Return those right steps with which the reference does not go on, and what they were made of.

        Another one should stand there. So it should where two are the same that never meet in the reference.
        """
        ends = [goal] if goal is not None else [n for n, step in enumerate(self._reference.steps) if step.line][-1:]
        wanted = [self._reference.behind(end, self._reached)[1] for end in ends]
        known = self._all_alike(set().union(*wanted))
        every, found = self._answer.steps, set[int]()
        known |= {number for number, step in enumerate(self._reference.steps) if step.is_within} if known else set()
        left = [number for number in met if self._anchors[number][1] not in known] if known else []
        left += [number for step in steps for number in self._twice(step)]
        while left:
            number = left.pop()
            if not every[number].line or number in found:
                continue
            found.add(number)
            before = [self._answer.behind(read, self._anchors)[1] for read in every[number].reads]
            left += [other for other in set().union(*before) if self._anchors[other][1] not in known]
        return frozenset(found)

    def comes_later(self, steps: set[int], theirs: set[int]) -> list[int]:
        """Return the step behind these in which something meets them that goes into the same steps of the reference.

        It was there before the call, and none of these has read it.
        """
        given = self._sources(self._reference, theirs)
        mine = self._sources(self._answer, steps)
        known = {
            n: self._anchors[n][1] for n, one in enumerate(self._answer.steps) if one.is_source and n in self._anchors
        }
        lacking = {n for n, other in known.items() if other in given and not {known.get(one) for one in mine} & {other}}
        behind, with_it = set(steps), set(lacking)
        for number in range(min(steps) + 1, len(self._answer.steps)):
            reads = self._answer.steps[number].reads
            if not behind.isdisjoint(reads):
                if not with_it.isdisjoint(reads) and number not in steps:
                    return [number] if self._answer.steps[number].line else []
                behind.add(number)
            elif not with_it.isdisjoint(reads):
                with_it.add(number)
        return []

    @staticmethod
    def _sources(trace: Trace, steps: set[int]) -> set[int]:
        """Return what was there before the call and steps were made of."""
        return {n for step in steps for n in trace.behind(step, ())[0] if trace.steps[n].is_source}

    def _twice(self, number: int) -> list[int]:
        """Return what a step has read two of that are the same, where no step of the reference does."""
        reads = [self._seen(read) for read in self._answer.steps[number].reads]
        reads = [read for read in reads if self._anchors.get(read, ("",))[0] == "arranged"]
        for one, two in itertools.combinations(reads, 2):
            same = self._all_alike({self._anchors[one][1]})
            if self._anchors[two][1] in same and not any(
                len(same.intersection(step.reads)) > 1 for step in self._reference.steps
            ):
                return [one, two]
        return []

    def _next(self, number: int, readers: dict[int, list[int]]) -> set[int]:
        """Return the steps that go on from one, and those of the same statements that go on from each number there."""
        every = self._answer.steps
        found, left = set[int](), list(users(self._answer, readers, number))
        while left:
            user = left.pop()
            if user in found:
                continue
            found.add(user)
            if kind_of(every[user].operation) in EACH:
                behind = users(self._answer, readers, user)
                left += [later for later in behind if every[later].at == every[user].at]
        return found


def _broadcast(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without the axes in front that make no difference where it meets another one."""
    return shape[next((at for at, size in enumerate(shape) if size != 1), len(shape)) :]
