"""Where an answer goes wrong that computes with Python's numbers and lists.

Its statements stand beside those of the reference.

What a name has stood for, time after time, tells whether it is right: the same numbers in the same order stand for a
name of the reference. What a wrong result hangs on, back to names that are right, is where the mistake is.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Final

from grader.judge.explain.locate.flow import Flow, Statement
from grader.judge.explain.locate.region import FEW, Region, Right
from grader.judge.explain.locate.traces import Trace
from grader.probes.lines import RESULT, UNKNOWN, Passed

ENOUGH: Final = 8.0
"""So many bits have to be equal before it is no chance."""
ROUNDED: Final = 1e-3
OF_A_FRACTION: Final = 12.0
OF_A_WORD: Final = 4.0
MOST_OF_A_NUMBER: Final = 10.0
_FRACTION: Final = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")
_STEP: Final = re.compile(r"#(\d+)")
_TOKEN: Final = re.compile(r"#\w+|'[^']*'|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")

Names = Callable[[int], str]
"""Returns what stands for the tensor that a step made: equal for equal ones."""
A_FEW: Final = 4.0
Written = tuple[str, ...]
"""What was made in a place, time after time."""
Place = tuple[int, str]
"""The line of a statement, and a name."""
Value = tuple[int, str]
"""The number of a statement that ran, and a name that stands for something else since then."""


class Told:
    """The statements of one program that ran, what they made, and how it looks from the beginning."""

    def __init__(self, trace: Trace, flow: Flow, names: Names, digits: int) -> None:
        """``digits``: so many of a number are known in both programs."""
        self.flow = flow
        self.passed = _joined(trace.passed, flow)
        self.texts: dict[Value, str] = {}
        self.history: dict[Value, tuple[int, float]] = {}
        self.before: dict[Value, Value] = {}
        """Of what was made time after time in one place, the time before."""
        self.series: dict[Place, list[Value]] = {}
        """What was made in each place, time after time."""
        known: dict[tuple[int, Place], tuple[Value, frozenset[str]]] = {}
        bound: dict[tuple[int, str], str] = {}
        for number, one in enumerate(self.passed):
            statement = flow.at(one.line)
            bound |= {(one.frame, name): text for name, text in one.made.items()}
            again = {name: bound[one.frame, name] for name in statement.stores if (one.frame, name) in bound}
            one.made = one.made if statement.is_head else again | one.made  # the same number once more, too
            for name, raw in one.made.items():
                text = _STEP.sub(lambda found: names(int(found[1])), raw)
                text = _FRACTION.sub(lambda found: f"{float(found[0]):.{digits}g}", text)
                value, place = (number, name), (statement.line, name)
                earlier, seen = known.get((one.frame, place), (None, frozenset()))
                hashed, bits = self.history[earlier] if earlier is not None else (0, 0.0)
                self.texts[value] = text
                self.history[value] = hash((hashed, text)), bits + (0.0 if text in seen else bits_of(text))
                self.series.setdefault(place, []).append(value)
                if earlier is not None:
                    self.before[value] = earlier
                known[one.frame, place] = value, seen | {text}

    def written(self, place: Place) -> tuple[str, ...]:
        """Return the texts of what was made in a place."""
        return tuple(self.texts[value] for value in self.series.get(place, ()))


def alike_places(reference: Told, answer: Told) -> dict[Place, list[Place]]:
    """Return the places of an answer at which it made, time after time, what the reference made at one of its own."""
    theirs: dict[tuple[str, ...], list[Place]] = {}
    for place in reference.series:
        theirs.setdefault(reference.written(place), []).append(place)
    return {
        place: theirs[written]
        for place in answer.series
        if place[1] != RESULT
        and (written := answer.written(place)) in theirs
        and sum(map(bits_of, set(written))) >= ENOUGH
    }


class _Index:
    """Which statements that ran make a name, read one, are a condition, may change an attribute; in order."""

    def __init__(self, told: Told) -> None:
        self.made: dict[tuple[int, str], list[int]] = {}
        self.reads: dict[tuple[int, str], list[int]] = {}
        self.heads: dict[tuple[int, int], list[int]] = {}
        self.sets: dict[str, list[int]] = {}
        self.first: dict[int, int] = {}
        for number, one in enumerate(told.passed):
            statement = told.flow.at(one.line)
            self.first.setdefault(one.frame, number)
            for name in one.made:
                self.made.setdefault((one.frame, name), []).append(number)
            for name in statement.reads:
                self.reads.setdefault((one.frame, name), []).append(number)
            if statement.is_head:
                self.heads.setdefault((one.frame, statement.line), []).append(number)
            for attribute in statement.sets:
                self.sets.setdefault(attribute, []).append(number)


def _last(numbers: list[int] | None, before: int) -> list[int]:
    """Return the last of these numbers below one, if there is any."""
    at = bisect_left(numbers, before) if numbers else 0
    return [numbers[at - 1]] if numbers and at else []


class Slices:
    """The statements of an answer beside those of the reference, for one call."""

    def __init__(self, reference: Told, answer: Told, together: dict[Place, list[Place]]) -> None:
        """``together``: places of both that made the same in a call that was right."""
        model, self._mine = reference, answer
        self._parted = set[Value]()
        self._beyond = set[Value]()
        self._together = set[Value]()
        self._part(reference, together)
        self._histories = {history: value for value, (history, _bits) in model.history.items()}
        at = [model.flow.at(one.line) for one in model.passed]
        counted = {n for n, statement in enumerate(at) if statement.is_head or not statement.reads}
        self._of_heads = {history for (n, _name), (history, _bits) in model.history.items() if n in counted}
        self._gone_on_from = set(model.before.values())
        self._single = {text: value for value, text in model.texts.items() if bits_of(text) >= ENOUGH}
        self._returned = ""
        """What is wrong: a number of the reference's on its way there is right only where all before it were."""
        self._children: dict[int, list[int]] = {}
        self._last: dict[int, int] = {}
        self._index = _Index(self._mine)
        for number, one in enumerate(self._mine.passed):
            self._last[one.frame] = number
        for number in self._last.values():
            self._children.setdefault(self._mine.passed[number].caller, []).append(number)

    def region(self, *, raised: bool = False) -> Region | None:
        """Return where the result goes wrong; None where it was not seen how it came about.

        ``raised``: whether there is none, but an exception: then where it went wrong before that, if it did.
        """
        ends = self._children.get(-1, [])
        end = next((n for n in ends if raised or RESULT in self._mine.passed[n].made), None)
        if end is None:
            return None
        self._returned = self._mine.texts.get((end, RESULT), UNKNOWN)
        made, right = self._behind(end, left=True)
        first = min((value for value in made if value in self._parted or self._leaves(value)), default=None)
        if raised and first is None:
            return None
        if first is not None:
            goes_on = first in self._beyond or self._statement(first[0]).is_head  # it may be what should have ended it
            before, right = self._behind(first[0], left=goes_on)
            numbers = {number for number, _name in before} | {first[0]}
        elif any(value[1] not in ("", RESULT) and not self._is_right(value) for value in made):
            numbers = {number for number, _name in made} | {end}
        else:
            numbers = set(self._tail(end))  # what was made is right: it is when to stop that is not
        lines = self._lines(numbers)
        used = {value for number in numbers - {end} for value in self._reads(number, left=False)}
        known = [value for value in right & used or right if value[1] != RESULT and value[0] not in numbers]
        last = max((value for value in known if not self._statement(value[0]).begins), default=None)
        told = Right(self._statement(last[0]).line, self._name(last)) if last is not None else None
        if last is not None and self._goes_on(last):
            lines = tuple(dict.fromkeys((*self._ended(last[0], max(numbers)), *lines)))
        return Region(lines, told, steps=frozenset(numbers)) if lines else None

    def ended_early(self) -> list[int]:
        """Return where a loop ended last: the condition, the jump, and what made that which it asks for."""
        ends = self._children.get(-1, [])
        end = next((n for n in ends if RESULT in self._mine.passed[n].made), 0)
        frame = self._mine.passed[end].frame if end else 0
        ran = [n for n in range(end) if self._mine.passed[n].frame == frame]
        jump = next((n for n in reversed(ran) if self._statement(n).jumps and self._statement(n).heads), -1)
        if jump < 0:
            return []
        heads = [n for n in ran if n < jump and self._statement(n).line == max(self._statement(jump).heads)]
        head = heads[-1] if heads else jump
        makers = [at for name in sorted(self._statement(head).reads) for at in self._made_before(head, name)]
        found = (head, *sorted(makers, reverse=True), jump)
        return list(dict.fromkeys(self._statement(n).line for n in found if not self._statement(n).begins))

    def _made_before(self, number: int, name: str) -> list[int]:
        """Return the statement that made what a name stands for where another one ran."""
        return _last(self._index.made.get((self._mine.passed[number].frame, name)), number)

    def _goes_on(self, value: Value) -> bool:
        """Whether the reference makes another one after this in its place, and the answer is over with it."""
        theirs = self._histories.get(self._mine.history[value][0]) or self._single.get(self._mine.texts[value])
        return theirs in self._gone_on_from and value not in self._mine.before.values()

    def _ended(self, begin: int, end: int) -> list[int]:
        """Return the lines of the conditions, loops and jumps that ran last between two statements of one function."""
        frame, loops = self._mine.passed[begin].frame, self._statement(begin).heads
        ran = (self._statement(n) for n in range(begin + 1, end) if self._mine.passed[n].frame == frame)
        heads = [one.line for one in ran if one.jumps or (one.is_head and (not one.targets or one.line in loops))]
        return [line for line in dict.fromkeys((*heads, *loops[:1])) if line]

    def region_of(self, value: Value, known: set[Written], new: set[Written]) -> Region | None:
        """Return where a value goes wrong that is known to.

        ``known``: what the reference made in some place of its own, time after time; ``new``: what it makes with the
        mistake alone. Before the value these may be of few numbers.
        """
        places = {place: self._mine.written(place) for place in self._mine.series}
        told = {place for place, written in places.items() if sum(map(bits_of, set(written))) >= A_FEW}
        for place in told:
            self._together.update(self._mine.series[place] if places[place] in known else ())
        self._together.difference_update([value])
        self._returned = self._mine.texts[value]
        before, _right = self._behind(value[0], left=False)
        wrong = [one for one in before if places.get((self._statement(one[0]).line, one[1])) in new]
        if wrong:
            before, _right = self._behind(min(wrong)[0], left=False)
            before.add(min(wrong))
        numbers = {number for number, _name in before} | {value[0]}
        lines = self._lines(numbers)
        return Region(lines, steps=frozenset(numbers)) if lines else None

    def _lines(self, numbers: set[int]) -> tuple[int, ...]:
        """Return the lines of statements, the last one first; not where a function begins or hands back by name.

        A condition that might have left the function and did not is none of them, either.
        """
        every = {number: self._statement(number) for number in sorted(numbers, reverse=True)}
        taken = {n for n in numbers if n + 1 < len(self._mine.passed) and self._statement(n + 1).jumps}
        few = [s for n, s in every.items() if not s.begins and not s.is_bare and (not s.is_guard or n in taken)]
        few = few or [statement for statement in every.values() if not statement.begins]
        return tuple(dict.fromkeys(statement.line for statement in few if statement.line))

    def _part(self, reference: Told, together: dict[Place, list[Place]]) -> None:
        """Find what is the first in its place that is not what the reference made at its own."""
        for place, others in together.items():
            mine = self._mine.series.get(place, [])
            texts = self._mine.written(place)
            at = max(_first_apart(texts, reference.written(other)) for other in others)
            self._together.update(mine[:at])
            if at < len(mine) and "#" not in texts[at] and UNKNOWN not in texts[at]:
                self._parted.add(mine[at])
                if all(at >= len(reference.series[other]) for other in others if other in reference.series):
                    self._beyond.add(mine[at])

    def _behind(self, end: int, *, left: bool) -> tuple[set[Value], set[Value]]:
        """Return what a statement hangs on, back to what is right, and what of this was met.

        ``left``: also conditions that might have left a loop or a function before it.
        """
        found, right = set[Value](), set[Value]()
        open_ones = list(self._reads(end, left=left))
        while open_ones:
            value = open_ones.pop()
            if value in found or value in right:
                continue
            if value[1] and self._is_right(value):
                right.add(value)
                continue
            found.add(value)
            open_ones.extend(self._reads(value[0], left=left))
        return found, right

    def _reads(self, number: int, *, left: bool) -> Iterator[Value]:
        """Yield what a statement that ran has read, where it was made; a name of "" stands for a condition."""
        mine = self._mine.passed
        one, statement = mine[number], self._statement(number)
        index = self._index
        for child in self._children.get(number, ()):
            yield child, RESULT
        for line in (*statement.heads, *((*statement.left, *statement.ends) if left else ())):
            for at in _last(index.heads.get((one.frame, line)), number):
                yield from [(at, name) for name in mine[at].made if name != RESULT] or [(at, "")]
        for name in statement.reads:
            for at in _last(index.made.get((one.frame, name)), number):
                yield at, name
                if UNKNOWN in mine[at].made[name]:  # whoever has it at hand may change what is in it
                    yield from ((user, "") for user in index.reads.get((one.frame, name), ()) if at < user < number)
        for attribute in statement.attributes:
            yield from ((at, "") for at in index.sets.get(attribute, ()) if at < number)
        if number == index.first[one.frame] and one.caller >= 0:  # what it was called with
            yield from self._reads(one.caller, left=left)

    def _is_right(self, value: Value) -> bool:
        """Whether the reference made the same, at once or time after time."""
        text = self._mine.texts.get(value, UNKNOWN)
        if self._is_given(value[0]) or value in self._together:
            return True
        if UNKNOWN in text or value in self._parted:
            return False
        history, bits = self._mine.history[value]
        statement = self._statement(value[0])
        if (statement.is_head or not statement.reads) and history in self._of_heads:
            return True  # it counts, or begins, as the reference does
        if bits >= ENOUGH and history in self._histories and (text != self._returned or value in self._mine.before):
            return True
        return text in self._single and text != self._returned

    def _is_given(self, number: int) -> bool:
        """Whether it is where the call begins: what it was called with is right."""
        return self._statement(number).begins and self._mine.passed[number].caller < 0

    def _leaves(self, value: Value) -> bool:
        """Whether it was right time after time, and is not from here on."""
        before = self._mine.before.get(value)
        text = self._mine.texts.get(value, UNKNOWN)
        if UNKNOWN in text or f"#{FEW}" in text or (self._statement(value[0]).is_head and text.isdigit()):
            return False  # nobody saw what it is; a loop counts, as any other does from the same number
        return bool(value[1]) and before is not None and self._is_right(before) and not self._is_right(value)

    def _name(self, value: Value) -> str:
        other = self._histories.get(self._mine.history[value][0]) or self._single.get(self._mine.texts[value])
        return other[1] if other is not None and other[1] != RESULT else ""

    def _tail(self, end: int) -> list[int]:
        """Return the conditions and jumps that ran last before the end, and the end."""
        found = [end]
        for number in range(end - 1, -1, -1):
            statement = self._statement(number)
            if not (statement.is_head or statement.jumps):
                break
            found.insert(0, number)
        return found

    def _statement(self, number: int) -> Statement:
        return self._mine.flow.at(self._mine.passed[number].line)


def _first_apart(mine: tuple[str, ...], theirs: tuple[str, ...]) -> int:
    """Return the place of the first text that is another one."""
    pairs = enumerate(zip_longest(mine, theirs))
    return next((at for at, (one, two) in pairs if one is None or two is None or not _same(one, two)), len(mine))


def _same(one: str, two: str) -> bool:
    """Whether two texts hold the same numbers, as far as digits were rounded."""
    if one == two:
        return True
    mine, theirs = _FRACTION.findall(one), _FRACTION.findall(two)
    if _FRACTION.sub("", one) != _FRACTION.sub("", two) or len(mine) != len(theirs):
        return False
    return all(math.isclose(float(a), float(b), rel_tol=ROUNDED) for a, b in zip(mine, theirs, strict=True))


def _joined(passed: tuple[Passed, ...], flow: Flow) -> list[Passed]:
    """Let the lines of one statement that ran one after the other be one; its callees still know it."""
    found: list[Passed] = []
    now: dict[int, int] = {}
    stands_for: dict[int, int] = {-1: -1}
    for number, one in enumerate(passed):
        at = now.get(one.frame)
        same = at is not None and found[at].line != one.line and flow.at(found[at].line) == flow.at(one.line)
        if same and at is not None and not flow.at(one.line).is_head:
            found[at].made.update(one.made)
            stands_for[number] = at
            continue
        now[one.frame] = stands_for[number] = len(found)
        found.append(Passed(one.frame, one.line, stands_for.get(one.caller, -1), dict(one.made)))
    return found


def bits_of(text: str) -> float:
    """Return how much there is in a text that would not be equal by chance."""
    return sum(map(_bits, _TOKEN.findall(text)))


def _bits(token: str) -> float:
    if token.startswith("#"):
        return OF_A_FRACTION
    if token.startswith("'"):
        return OF_A_WORD
    number = abs(float(token))
    if number != int(number) if math.isfinite(number) else False:
        return OF_A_FRACTION if (number * 4) % 1 else 1.0
    return min(MOST_OF_A_NUMBER, math.log2(1 + number))
