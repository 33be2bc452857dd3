"""The steps among which an answer goes wrong: what a wrong result was made of, back to steps that are right.

Nothing outside of them can be to blame: what goes into them has the numbers of the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import torch

from grader.judge.exchange.compare import agree
from grader.judge.explain.locate.alike import alike
from grader.judge.explain.locate.beside import Beside
from grader.judge.explain.locate.match import RELATIVE, Matcher, factor, many, near, plain, rounded
from grader.judge.explain.locate.onward import Onward
from grader.judge.explain.locate.shapes import is_reshaped, shaped_at
from grader.judge.explain.locate.sound import sound_steps
from grader.judge.explain.locate.traces import NUMBERS, Step, Trace
from grader.judge.explain.locate.uses import does_nothing, identical, used
from grader.probes.lines import UNKNOWN
from grader.transport.wire import dtype_name, tensors_in

OF_AN_ORDER: Final = 1e-3
FEW: Final = "few"
"""Begins the names of tensors of few numbers: that nobody knows them again is no proof that they are wrong."""
CHOOSES: Final = frozenset(("argmax", "argmin", "argsort", "max", "min", "multinomial", "sort", "topk"))
JOINS: Final = frozenset(("stack", "cat"))
"""Operations that put tensors side by side: in which order, and along which axis, is a choice."""
WORSE: Final = 8.0
"""What leads so many times as far away as a few roundings do is wrong."""


@dataclass(frozen=True, slots=True)
class Right:
    """The last step that is right: the line of the answer, and what the reference calls it."""

    line: int
    name: str


@dataclass(frozen=True, slots=True)
class Region:
    """Where an answer goes wrong."""

    lines: tuple[int, ...]
    """The lines of the steps, in the order in which they ran."""
    right: Right | None = None
    """The last step before them that is right; None where only the inputs are."""
    missing: str = ""
    """The next step of the reference that the answer does not make."""
    returned: str = ""
    """Where it is no step that is wrong, but what is returned: the name of the result."""
    reordered: bool = False
    """Whether the right numbers lie in another order."""
    reshaped: bool = False
    """Whether they lie in the right order, in another shape."""
    times: float = 0.0
    """By what factor the line has the numbers of the missing step."""
    is_open: bool = False
    """Whether something else went in that was made before the call."""
    raised: bool = False
    steps: frozenset[int] = field(default_factory=frozenset)
    strangers: frozenset[int] = field(default_factory=frozenset)
    """Right steps that go in where the reference has others."""


class Alignment:
    """The steps of an answer beside those of the reference, for one call."""

    def __init__(self, reference: Trace, answer: Trace, slack: float) -> None:
        """``slack``: how far numbers may be apart, beside the largest of them."""
        self._reference, self._answer, self._slack = reference, answer, slack
        self._matcher = Matcher(reference, slack)
        self._groups: dict[int, int] = {}
        self._used: set[int] | None = None
        found = {number: self._matcher.found(step) for number, step in enumerate(answer.steps)}
        self._alike = {number: match for number, match in found.items() if match is not None}
        self.anchors = {number: match for number, match in self._alike.items() if match[0] != "shuffled"}
        same = alike(answer, reference, slack)
        self._made_alike = frozenset(same)
        for number in [number for number in self.anchors if number not in same]:
            if does_nothing(answer, number) or _is_chance(answer.steps[number]):
                del self.anchors[number]  # it may have had something to do
        for number, other in same.items():
            if answer.steps[number].value is not None and number not in self.anchors:
                self.anchors[number] = self._alike[number] = "arranged", other
        self._reached = self.all_alike({number for _kind, number in self._alike.values()})
        self.should_be: Callable[[set[int]], tuple[int, int] | None] = lambda _steps: None
        """Returns the first of some steps that is not what it should be, and what it should be, where that is known."""
        self._onward = Onward(reference, answer, slack)
        self._beside = Beside(reference, answer, self.anchors, self.all_alike, self._reached)

    def region(self, got: torch.Tensor | None, want: torch.Tensor, name: str) -> Region | None:
        """Return where a result goes wrong; None where its steps are not known."""
        end = self.made(self._answer, got) if got is not None else None
        goal = self.made(self._reference, want)
        if end is None:
            return None
        anchor = self._alike.get(end)
        looks_like_it = goal is not None and anchor is not None and anchor[1] in self.all_alike({goal})
        is_goal = looks_like_it and self._slack <= OF_AN_ORDER
        if looks_like_it and not is_goal:
            anchor = None  # of halves much looks like the same numbers in another order
        if anchor is None or (anchor[0] == "shuffled" and not is_goal):
            return self._around(end, goal)
        if is_goal:
            steps, met = {end}, set[int]()
            for read in self._answer.steps[end].reads:
                more, others = self._answer.behind(read, self.anchors)
                steps, met = steps | more, met | others
            told = self._told(steps, met, "", reordered=True)
            if told is None or got is None or got.shape == want.shape:
                return told
            if is_reshaped(got, want, self._slack) and (at := shaped_at(self._answer, end, got.shape)):
                return replace(told, lines=at, reordered=False, reshaped=True)
            return replace(told, lines=tuple(dict.fromkeys(n for n in (*told.lines, self._answer.returned) if n)))
        step = self._answer.steps[end]
        right = Right(step.line, self._name(anchor[1]))
        missing = self._missing(goal) if goal is not None else ""
        steps = self._idle(end)
        lines = [self._answer.steps[number].line for number in sorted(steps)]
        every = tuple(dict.fromkeys(line for line in (step.line, *lines, self._answer.returned) if line))
        return Region(every, right, missing, returned=name or "?", steps=frozenset(steps))

    def _idle(self, end: int) -> set[int]:
        """Return a step, those before it that do nothing or put things side by side, and what else goes into them."""
        every, same = self._answer.steps, self.all_alike({self._alike[end][1]})
        found, left = {end}, list(every[end].reads)
        while left:
            number = left.pop()
            joins = every[number].operation in JOINS and self.anchors.get(number, ("", -1))[1] in same
            if every[number].line and (joins or does_nothing(self._answer, number)):
                left += [read for read in every[number].reads if read not in found]
                found.add(number)
            else:
                found |= self._answer.behind(number, self.anchors)[0]
        return found

    def region_of(self, numbers: Sequence[int], name: str, goal: int | None = None) -> Region | None:
        """Return where steps go wrong that are known to, the first of which is called ``name`` by the reference.

        ``goal``: the last step of the reference that is called so.
        """
        parts = [self._answer.behind(number, self.anchors) for number in numbers]
        steps, met = set().union(*(part[0] for part in parts)), set().union(*(part[1] for part in parts))
        found = self._with_short(steps, met, name, None)
        return found if goal is None or found is None else self._with_later(found, steps, goal)

    def raised(self, line: int) -> Region | None:
        """Return where an answer goes wrong that raises at a line."""
        if not line:
            return None
        last = max((n for n in self.anchors if self._answer.steps[n].line), default=None)
        right = None if last is None else Right(self._answer.steps[last].line, self._name(self.anchors[last][1]))
        read = {read for step in self._answer.steps for read in step.reads}
        ends = [n for n, step in enumerate(self._answer.steps) if n not in read and step.line and n not in self.anchors]
        steps, met = set[int](), set[int]()
        for end in ends:
            more, others = self._answer.behind(end, self.anchors)
            steps, met = steps | more, met | others
        lines = dict.fromkeys(step.line for n, step in enumerate(self._answer.steps) if n in steps and step.line)
        ends = [n for n, step in enumerate(self._answer.steps) if n not in read]
        elsewhere = self._beside.elsewhere(ends)
        lines |= dict.fromkeys(self._answer.steps[number].line for number in elsewhere)
        steps.update(elsewhere)
        otherwise = (self._answer.steps[n].line for n in sorted(met.union(ends)) if self._is_of_another_shape(n))
        every = tuple(dict.fromkeys(one for one in (line, *otherwise, *lines) if one))
        strangers = self._beside.strangers(steps, met, None)
        return Region(every, right, raised=True, steps=frozenset(steps), strangers=strangers)

    def _is_of_another_shape(self, number: int) -> bool:
        """Whether a right step has axes that the reference's has not: where something is raised, that may be why."""
        kind, other = self.anchors.get(number, ("part", -1))
        return kind != "part" and self._answer.steps[number].shape != self._reference.steps[other].shape

    def _around(self, end: int, goal: int | None) -> Region | None:
        steps, met = self._answer.behind(end, self.anchors)
        while goal is not None and (faint := [number for number in met if self._is_faintly_wrong(number, end, goal)]):
            for number in faint:
                del self.anchors[number]
            steps, met = self._answer.behind(end, self.anchors)
        while chosen := [number for number in met if self._is_another(number)]:
            for number in chosen:
                del self.anchors[number]
            steps, met = self._answer.behind(end, self.anchors)
        if (wrong := self.should_be(steps - {end})) is not None:
            return self._around(*wrong)
        missing = self._missing(goal) if goal is not None else ""
        whole = self._with_short(steps, met, missing, goal)
        if goal is None or whole is None:
            return whole
        wanted = set().union(*self._reference.behind(goal, self._reached)) - {goal}
        for number in sorted(steps - {end}):
            if does_nothing(self._answer, number):  # what should have been done behind it may not have been
                continue
            if theirs := self._onward.right_from((number,), end, goal, wanted):
                steps, met = self._answer.behind(number, self.anchors)
                near = self._nearly(self._answer.steps[number], goal)
                name, times = (self._name(near[0]), near[1]) if near is not None else (missing, 0.0)
                found = self._with_short(steps, met, name, goal, times=times)
                return self._with_later(found, steps, theirs[0]) if found is not None else whole
        return self._from_each(steps - {end}, end, goal, wanted) or whole

    def _from_each(self, steps: set[int], end: int, goal: int, wanted: set[int]) -> Region | None:
        """Return the region of what one statement makes time after time, where all that becomes of it is right."""
        if self._reference.playback is not None:
            self._reference.playback.refill()
        for series in self._onward.series(steps):
            if self._onward.right_from(series, end, goal, wanted):
                parts = [self._answer.behind(number, self.anchors) for number in series]
                behind, met = set().union(*(part[0] for part in parts)), set().union(*(part[1] for part in parts))
                return self._with_short(behind, met, self._missing(goal), goal)
        return None

    def _with_short(
        self, steps: set[int], met: set[int], missing: str, goal: int | None, times: float = 0.0
    ) -> Region | None:
        """Tell a region, and beside it the right steps that may end too early, or lie or stand where others should."""
        told = self._told(steps, met, missing, times=times)
        if told is None:
            return None
        beside = self._beside
        others = [*beside.elsewhere(sorted(met)), *beside.stop_short(steps, met)]
        lines = (*told.lines, *(self._answer.steps[number].line for number in others))
        strangers = beside.strangers(steps, met, goal) if goal is not None else frozenset()
        return replace(told, lines=tuple(dict.fromkeys(lines)), steps=told.steps.union(others), strangers=strangers)

    def _with_later(self, told: Region, steps: set[int], theirs: int) -> Region:
        """Tell a region, and where what should have gone into it comes in later: a mask behind the softmax."""
        later = self._beside.comes_later(steps, self._reference.behind(theirs, self._reached)[0])
        lines = (*told.lines, *(self._answer.steps[number].line for number in later))
        return replace(told, lines=tuple(dict.fromkeys(lines)), steps=told.steps.union(later))

    def _is_another(self, number: int) -> bool:
        """Whether a step puts numbers somewhere with which the reference computes nothing: others should be there."""
        step = self._answer.steps[number]
        if not step.moves or not step.line:
            return False
        if self._used is None:
            results = (self.made(self._reference, leaf) for leaf in tensors_in(self._reference.result))
            self._used = used(self._reference) | {number for number in results if number is not None}
        return not self._used & self.all_alike({self.anchors[number][1]})

    def _is_faintly_wrong(self, number: int, end: int, goal: int) -> bool:
        """Whether a step that looks right leads the reference to something else: what is off there matters later."""
        kind, other = self.anchors[number]
        mine, theirs, playback = self._answer.steps[number], self._reference.steps[other], self._reference.playback
        want = self._reference.steps[goal].value
        if (
            kind != "arranged"
            or not mine.line
            or mine.value is None
            or want is None
            or theirs.value is None
            or playback is None
            or other == goal
        ):
            return False
        if mine.shape != theirs.shape or mine.dtype not in RELATIVE or theirs.dtype != dtype_name(NUMBERS):
            return False
        came = playback.again(goal, {other: mine.value.to(NUMBERS)})
        if came is None or came.shape != want.shape or near(plain(came), plain(want), 2 * self._slack):
            return False
        result = self._answer.steps[end].value
        wide = mine.value.dtype if result is None else torch.promote_types(mine.value.dtype, result.dtype)
        expected = playback.again(goal, {other: rounded(theirs.value, wide)})  # what is right is rounded, too
        if expected is None:
            return False
        off, usual = (float((plain(one) - plain(want)).abs().max()) for one in (came, expected))
        return off > WORSE * usual

    def _told(
        self, steps: set[int], met: set[int], missing: str, *, reordered: bool = False, times: float = 0.0
    ) -> Region | None:
        every, moved = self._answer.steps, set[int]()
        if all(self._puts(number) for number in steps):  # which axes lie where began to matter before
            joins = any(every[number].operation in JOINS for number in steps)
            puts = {n for n in met if self._puts(n) or (joins and self.anchors[n][0] == "part")}
            left = {number for number in puts if every[number].line}
            while left:
                behind = [self._answer.behind(read, self.anchors) for number in left for read in every[number].reads]
                moved, steps = moved | left, steps.union(left, *(more for more, _others in behind))
                met = (met - left).union(*(others for _more, others in behind))
                left = {n for n in met if every[n].moves and every[n].line and n not in steps and self._lies_else(n)}
        steps = self._without_sound(steps, moved)
        lines = dict.fromkeys(every[number].line for number in sorted(steps) if every[number].line)
        values = [every[n].value for n in steps if every[n].is_source]
        is_open = any(value is not None and many(plain(value)) for value in values)
        known = [number for number in met if every[number].line]
        known = [number for number in known if every[number].dtype in RELATIVE] or known  # a mask tells less
        right = Right(every[max(known)].line, self._name(self.anchors[max(known)][1])) if known else None
        if not lines:
            return None
        return Region(
            tuple(lines), right, missing, reordered=reordered, times=times, is_open=is_open, steps=frozenset(steps)
        )

    def _without_sound(self, steps: set[int], moved: set[int]) -> set[int]:
        """Leave out the steps with which right ones are made, but those ``moved``, and what they were made of alone."""
        sound = sound_steps(self._answer, self.anchors)
        read = {number for step in steps for number in self._answer.steps[step].reads}
        parts = [self._answer.behind(end, (self.anchors.keys() | sound) - moved)[0] for end in steps - read]
        left = steps & set().union(*parts)
        return left if any(self._answer.steps[number].line for number in left) else steps

    def _lies_else(self, number: int) -> bool:
        """Whether numbers of the reference lie as they do nowhere in it."""
        value = self._answer.steps[number].value
        theirs = (self._reference.steps[other] for other in self.all_alike({self.anchors[number][1]}))
        same = (one.value for one in theirs if one.value is not None and one.shape == self._answer.steps[number].shape)
        return value is not None and not any(near(plain(value), plain(other), self._slack) for other in same)

    def _puts(self, number: int) -> bool:
        """Whether a step only puts numbers somewhere, or side by side."""
        return self._answer.steps[number].moves or self._answer.steps[number].operation in JOINS

    @cached_property
    def _sound_theirs(self) -> frozenset[int]:
        """The steps of the reference of which steps that the answer makes are made."""
        return frozenset(sound_steps(self._reference, {number: ("arranged", number) for number in self._reached}))

    def _missing(self, goal: int) -> str:
        """Return the name of the first step towards a result of the reference that the answer does not make."""
        left, _met = self._reference.behind(goal, self._reached)
        steps = self._reference.steps
        known = self._sound_theirs if left - self._sound_theirs - {goal} else frozenset()
        named = [number for number in sorted(left - known) if steps[number].name and steps[number].line]
        return next((steps[n].name for n in named if not steps[n].moves), steps[named[0]].name if named else "")

    def _nearly(self, step: Step, goal: int) -> tuple[int, float] | None:
        """Return the missing step of which this one is a multiple, and by what."""
        if step.value is None or not step.value.dtype.is_floating_point or not step.line or step.moves:
            return None
        found: tuple[int, float] | None = None
        for number in sorted(self._reference.behind(goal, self._reached)[0]):
            theirs = self._reference.steps[number]
            is_its = found is None or theirs.name == self._reference.steps[found[0]].name  # the last one of a name
            if is_its and theirs.value is not None and theirs.line and theirs.shape == step.shape and theirs.name:
                by = factor(step.value.double(), theirs.value.double(), 1e-4)
                found = (number, by) if by is not None else found
        return found

    @staticmethod
    def made(trace: Trace, value: torch.Tensor) -> int | None:
        """Return the last step that has just these numbers in this shape, bit for bit where there is one.

        One that computes them comes before one that only has them: nothing is known of what is put into a parameter.
        """
        for same in (identical, agree):
            found = [
                number
                for number, step in enumerate(trace.steps)
                if step.value is not None
                and step.value.shape == value.shape
                and same(step.value, value)
                and not step.is_within
            ]
            if found:
                computed = [number for number in found if not trace.steps[number].moves and trace.steps[number].line]
                return (computed if same is identical and computed else found)[-1]
        return None

    def name_of_mine(self, number: int) -> str:
        """Return what stands for a tensor of the answer: that of the reference which it is equal to, or its own."""
        value = self._answer.steps[number].value if number < len(self._answer.steps) else None
        if value is None:
            return UNKNOWN
        kind, other = self.anchors.get(number, ("", -1))
        told = many(plain(value))
        sure = told or not value.is_floating_point() or number in self._made_alike  # of a few there may be more
        return self.name_of_theirs(other) if kind == "arranged" and sure else f"#{'x' if told else FEW}{number}"

    def name_of_theirs(self, number: int) -> str:
        """Return what stands for a tensor of the reference, and for all that are equal to it."""
        if number not in self._groups:
            self._groups[number] = self._matcher.first_like(number)
        return f"#{self._groups[number]}"

    def all_alike(self, numbers: set[int]) -> set[int]:
        """Return the steps of the reference that have the same numbers as one of these, in whatever order."""
        return self._matcher.alike(numbers)

    def _name(self, number: int) -> str:
        """Return what the reference calls a step, or what lies as it does."""
        steps = self._reference.steps
        if steps[number].name:
            return steps[number].name
        alike = self._matcher.alike({number})
        return next((steps[other].name for other in sorted(alike) if steps[other].name), "")


def _is_chance(step: Step) -> bool:
    """Whether a step chooses among places: a few of them are chosen alike whatever led there."""
    return (
        step.operation in CHOOSES and step.value is not None and not step.dtype.startswith("f") and not many(step.value)
    )
