"""What else may be to blame around steps that go wrong: whoever chose what goes into them, and what is no tensor.

A step may be right and get what is right, but not for it: another tensor, another number, in a branch that should not
have been taken. Statements that the reference has word for word are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from grader.judge.explain.locate.flow import Statement, flow_of
from grader.judge.explain.locate.slices import ENOUGH, bits_of
from grader.judge.explain.locate.statements import Statements, statements_of
from grader.judge.explain.locate.traces import Trace
from grader.probes.lines import RESULT, UNKNOWN

CHOOSES: Final = re.compile(r"\b(IfExp|Call|BoolOp)\(")
"""What may choose among several tensors, in the text of a statement."""
SCALES: Final = re.compile(r"Pow\(\)|\bsqrt\b|\bDiv\(\)|value=\d*\.\d|value=\d+e")
"""What makes a number that others are multiplied by, rather than one that says how many there are."""
WORD: Final = re.compile(r"[A-Za-z_]\w*")
A_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
ROOM: Final = re.compile(r"attr='(new_)?(empty|zeros)(_like)?'")
"""What only makes room for what others write."""
OF_WEIGHTS: Final = ("Linear", "Parameter", "Embedding")
"""Who makes what is loaded: its numbers are known."""


MOST_LIKELY: Final = 1
NONE: Final = (" = None", ", None)")
"""How a statement ends that gives an object nothing."""
NOTHING: Final = "Constant(value=None)"


class Around:
    """The statements around those of an answer that go wrong, in one call."""

    def __init__(
        self,
        answer: Trace,
        statements: Statements,
        reference: Trace | None,
        model: str,
        right: Iterable[int] = (),
        *,
        is_new: bool = False,
    ) -> None:
        """``model``: the text of the reference; ``right``: steps of the answer that are.

        ``is_new``: whether the weights are those that a module begins with.
        """
        self._is_new = is_new
        self._right = frozenset(right)
        self._trace, self._statements = answer, statements
        self._flow = flow_of(statements.source)
        self._model = flow_of(model)
        self._theirs = {
            (name, text) for one in (reference.passed if reference else ()) for name, text in one.made.items()
        }
        self._numbers = {text for _name, text in self._theirs if bits_of(text) >= ENOUGH}
        self._defaults = {(name, value) for name, (_line, value) in statements_of(model).defaults().items()}
        self._strangers = frozenset[int]()
        self._found: dict[int, None] = {}
        self._far: dict[int, int] = {}
        """How far from it those are that are not near: who called, then what hardly can be wrong."""
        self._ran = {one.line for one in answer.passed}
        self._likely: dict[int, None] = {}
        """Those to be told first: a call that leaves out what is asked for, a condition that might have changed it."""
        self._seen: set[int] = set()
        self._first = frozenset[int]()
        """The statements that go wrong, as they ran."""
        self._handed: dict[int, None] = {}
        """Who called their functions with numbers of Python's that choose what is done."""
        self._numbers_read: dict[int, None] = {}
        """Who made numbers of Python's that they read, and the reference does not have."""

    def lines(
        self, steps: Iterable[int], most: int | None = None, *, onward: bool = True, is_factor: bool = False
    ) -> tuple[int, ...]:
        """Return the lines that may be to blame for what these steps do, other than their own.

        ``most``: so many at most, first those that are near; below 0 all that are near, and no others. ``onward``:
        who first goes on from these steps comes before those that are merely near. ``is_factor``: it is
        known to be by a factor that they are wrong.
        """
        step_of = self._trace.steps
        # who computes something comes before who only puts it elsewhere
        left = [step_of[number].at for number in sorted(steps, key=lambda number: (step_of[number].moves, number))]
        self._first = frozenset(left)
        for number in left:
            self._onward(number)
        ends = [n for n, one in enumerate(self._trace.passed) if one.caller < 0 and RESULT in one.made][-1:]
        left += ends  # what is handed back is a choice, too
        for end in ends:
            statement = self._flow.at(self._trace.passed[end].line)
            if self._is_bare(end) and statement.attributes and "Call(" not in statement.text:
                self._note([statement.line], likely=True)
        while left:
            number = left.pop(0)
            if number < 0 or number >= len(self._trace.passed) or number in self._seen:
                continue
            self._seen.add(number)
            left += self._beside(number)
        own = {self._line(self._trace.steps[number].line) for number in steps}
        every = [line for line in self._found if line not in own]
        near = [line for line in every if line not in self._far]
        far = sorted((line for line in every if line in self._far), key=self._far.__getitem__)
        if most is None:
            return tuple(every)
        likely = [line for line in self._likely if line in every][:MOST_LIKELY]
        choices = [line for line in near if "IfExp(" in self._flow.at(line).text]  # of which it may be the other one
        choices = [] if is_factor else [*likely, *(line for line in choices if line not in likely)]
        loops = {head for line in own for head in self._flow.at(line).heads}
        near.sort(key=lambda line: bool(loops) and loops.isdisjoint(self._flow.at(line).heads))
        scales = [line for line in near if SCALES.search(self._flow.at(line).text)]
        scales.sort(key=lambda line: line in self._ran)
        near.sort(key=lambda line: not self._makes_a_scale(line))
        users = self._users(set(steps), own) if most > 0 else []
        # what goes in there was made before the call, where it is not what goes on
        before = [line for line in near if line not in self._ran and not ROOM.search(self._flow.at(line).text)]
        first = users if onward else before
        asked = {name for line in own for name in self._flow.at(line).attributes}
        counts = (line for line in near if line in self._ran and self._flow.at(line).text.startswith("AugAssign"))
        changed = [line for line in counts if asked & self._flow.at(line).sets]
        chosen = [line for line in self._numbers_read if line in near]
        near = list(dict.fromkeys((*choices, *self._handed, *scales, *changed, *chosen, *first, *near)))
        if most < 0:
            return tuple(near)
        return tuple(dict.fromkeys((*near, *far, *users)))[: max(most, len(choices))]

    def _makes_a_scale(self, line: int) -> bool:
        """Whether a statement makes a number that others are multiplied by, and no weights."""
        text = self._flow.at(line).text
        return bool(SCALES.search(text)) and not any(f"'{name}'" in text for name in OF_WEIGHTS)

    def _users(self, steps: set[int], own: set[int]) -> list[int]:
        """Return who first goes on from what goes wrong: that may be right by itself, and something lack there."""
        every = enumerate(self._trace.steps)
        behind = (self._line(step.line) for n, step in every if n not in steps and not steps.isdisjoint(step.reads))
        first = next((line for line in behind if line and line not in own), 0)
        return [first] if first and self._flow.is_own(first, self._model) else []

    def also(self, lines: Iterable[int]) -> None:
        """Note lines that somebody else has found."""
        self._found |= dict.fromkeys(lines)

    def fed(self, line: int) -> list[int]:
        """Return the statements that made what a statement reads that failed, the last one first."""
        number = max((n for n, one in enumerate(self._trace.passed) if self._line(one.line) == line), default=-1)
        bound = [self._bound(number, name) for name in self._flow.at(line).reads] if number >= 0 else []
        inner = [n for n, one in enumerate(self._trace.passed) if one.caller == number >= 0 and RESULT in one.made]
        made = sorted({self._line(self._trace.passed[one].line) for one in (*bound, *inner) if one >= 0}, reverse=True)
        return [at for at in made if self._flow.is_own(at, self._model) and not self._flow.at(at).begins]

    def strangers(self, steps: frozenset[int], strangers: frozenset[int]) -> None:
        """Note who made right tensors that go into these steps where others should: as whoever uses them sees it."""
        self._strangers = strangers
        passed = self._trace.passed
        for number in sorted(steps):
            step = self._trace.steps[number]
            if step.at < 0 or strangers.isdisjoint(step.reads):
                continue
            frame = passed[step.at].frame
            for end in strangers.intersection(step.reads):
                for other in sorted(self._trace.behind(end, self._right - strangers)[0]):
                    at = self._trace.steps[other].at
                    while at >= 0 and passed[at].frame != frame:
                        at = passed[at].caller
                    if at >= 0:
                        self._note([passed[at].line])

    def _line(self, line: int) -> int:
        return self._flow.at(line).line

    def _beside(self, number: int) -> Iterator[int]:
        """Note what a statement that ran got, and yield whoever called its function."""
        one = self._trace.passed[number]
        statement = self._flow.at(one.line)
        for name in sorted(statement.reads):
            bound = self._bound(number, name)
            yield from self._skipped(bound, number, name)
            if bound < 0:
                self._note(self._statements.everywhere(name))
            elif self._flow.at(self._trace.passed[bound].line).begins:
                if self._trace.passed[bound].made[name] == "None" or not self._is_left_out(one.line, name):
                    self._default(one.line, name)
                yield from self._called_without(bound, number, name)
                self._numbers_handed(bound, number, name)
            elif self._is_choice(bound, name):
                yield from self._chosen(bound, number, name)
        if number in self._first:
            yield from self._inside(number)
        self._heads(statement)
        for name in sorted(statement.attributes):
            for line, text in self._statements.given(name, one.line):
                if self._is_new or not _makes_weights(text):
                    self._note([line, *self._statements.called(text)])
                    self._default(line, text)

    def _chosen(self, bound: int, number: int, name: str) -> Iterator[int]:
        """Note who gave a name what is no tensor, or what was there, and yield it where that was made of others."""
        made, line = self._trace.passed[bound].made[name], self._line(self._trace.passed[bound].line)
        known = self._is_known(bound, name)
        self._note([line], far=known)
        if number in self._first and not known and A_NUMBER.fullmatch(made):
            self._numbers_read.setdefault(line)
        self._heads(self._flow.at(line))
        yield from self._made_of(bound)
        if self._flow.at(line).targets or "#" not in made:  # what Python's numbers were made of, too
            yield bound

    def _inside(self, number: int) -> Iterator[int]:
        """Note what functions handed back that a statement called and that made no tensor, and yield where they did."""
        for inner in range(number + 1, len(self._trace.passed)):
            one = self._trace.passed[inner]
            if one.caller == number and RESULT in one.made and "#" not in one.made[RESULT]:
                self._note([one.line])
                self._numbers_read.setdefault(self._line(one.line))
                yield inner

    def _made_of(self, bound: int) -> Iterator[int]:
        """Note what a number of Python's was taken from, back to what is right, and yield the statements."""
        for end in [number for number, step in enumerate(self._trace.steps) if step.at == bound]:
            for number in sorted(self._trace.behind(end, self._right)[0]):
                step = self._trace.steps[number]
                if step.line:
                    self._note([step.line])
                    yield step.at

    def _default(self, line: int, text: str) -> None:
        """Note where the function of a line begins, if it gives an argument in a text a default of its own."""
        for name in dict.fromkeys(WORD.findall(text)):
            where, value = self._default_of(line, name)
            if where and (name, value) not in self._defaults:
                self._found.setdefault(where)
                if any(name == other for other, _value in self._defaults):  # the reference has another one
                    self._likely.setdefault(where)

    def _default_of(self, line: int, name: str) -> tuple[int, str]:
        """Return where the function of a line begins that gives an argument a default, and that; 0 and "" for none."""
        return self._statements.defaults(line).get(name, (0, ""))

    def _is_left_out(self, line: int, name: str) -> bool:
        """Whether an argument is one that may be left out, and is None then."""
        return self._default_of(line, name)[1] == NOTHING

    def _called(self, number: int, *, likely: bool = False) -> int:
        """Note a statement that called a function: which arguments it got is its choice."""
        likely = likely and not any(self._is_none(number, name) for name in self._read_at(number))
        self._note([self._trace.passed[number].line], far=True, likely=likely)
        return number

    def _called_without(self, bound: int, number: int, name: str) -> Iterator[int]:
        """Note and yield who called a function: likely where an argument was left out that is asked for."""
        one = self._trace.passed[number]
        if one.caller >= 0:
            left_out = self._trace.passed[bound].made[name] == "None" and self._is_left_out(one.line, name)
            yield self._called(one.caller, likely=left_out)

    def _numbers_handed(self, bound: int, number: int, name: str) -> None:
        """Note who called a function with a number, where it is a factor, or is written there."""
        one, text = self._trace.passed[number], self._trace.passed[bound].made[name]
        if number not in self._first or one.caller < 0 or not A_NUMBER.fullmatch(text):
            return
        line = self._line(self._trace.passed[one.caller].line)
        number_said = f"Constant(value={text})"
        is_written = number_said in self._flow.at(line).text or number_said == self._default_of(one.line, name)[1]
        if (is_written or self._makes_a_scale(self._line(one.line))) and self._flow.is_own(line, self._model):
            self._handed.setdefault(line)

    def _read_at(self, number: int) -> frozenset[str]:
        return self._flow.at(self._trace.passed[number].line).reads

    def _is_none(self, number: int, name: str) -> bool:
        """Whether a name stands for None where a statement ran, which hands that on."""
        bound = self._bound(number, name)
        return bound >= 0 and self._trace.passed[bound].made[name] == "None"

    def _bound(self, number: int, name: str) -> int:
        """Return the statement that bound a name last, before another one of the same function ran; -1 for none."""
        frame = self._trace.passed[number].frame
        for before in range(number - 1, -1, -1):
            one = self._trace.passed[before]
            if one.frame == frame and name in one.made:
                return before
        return -1

    def _is_choice(self, bound: int, name: str) -> bool:
        """Whether a statement only gave a name to what was there, or to what is no tensor."""
        text = self._trace.passed[bound].made[name]
        if text.startswith("#") and text[1:].isdigit():
            made = self._trace.steps[int(text[1:])].at if int(text[1:]) < len(self._trace.steps) else bound
            return made < bound and self._is_bare(bound)
        if "#" in text or UNKNOWN in text or not text.strip("[]{}"):  # what begins empty is filled elsewhere
            return False
        return (name, text) not in self._theirs

    def _is_known(self, bound: int, name: str) -> bool:
        """Whether a name stands for a right tensor that belongs there, or for a number that the reference has, too."""
        text = self._trace.passed[bound].made[name]
        if text.startswith("#"):
            said = self._flow.at(self._trace.passed[bound].line).text
            chooses = CHOOSES.search(said) or self._is_bound_before(bound, name)
            return not chooses and int(text[1:]) in self._right - self._strangers
        return text in self._numbers

    def _is_bound_before(self, bound: int, name: str) -> bool:
        """Whether a name of the same call stood for something else: what it stands for now is a choice."""
        passed = self._trace.passed
        return any(name in one.made and one.caller == passed[bound].caller for one in passed[:bound])

    def _is_bare(self, bound: int) -> bool:
        """Whether a statement made no tensor, nor called anybody who did."""
        calls = any(one.caller == bound for one in self._trace.passed[bound + 1 :])
        return not calls and not any(step.at == bound for step in self._trace.steps)

    def _skipped(self, bound: int, number: int, name: str) -> Iterator[int]:
        """Note conditions that ran since a name was bound, and might have bound it to something else.

        Where one asks for nothing but whether something is there, whoever called without it is yielded.
        """
        frame = self._trace.passed[number].frame
        for between in range(max(bound + 1, 0), number):
            one = self._trace.passed[between]
            statement = self._flow.at(one.line)
            if one.frame != frame or not statement.is_head or name not in statement.inside:
                continue
            if not statement.asks_for_none:
                self._note([one.line], likely=not statement.targets)
                continue
            for attribute in sorted(statement.attributes):
                nothing = (at for at, text in self._statements.given(attribute, one.line) if text.endswith(NONE))
                self._note(nothing, likely=True)
            yield from self._made_none(between, statement)

    def _onward(self, number: int) -> None:
        """Note conditions behind a statement that might have given what it made another value."""
        if number < 0 or number >= len(self._trace.passed):
            return
        one = self._trace.passed[number]
        names = set(one.made)
        for later in self._trace.passed[number + 1 :]:
            if later.frame != one.frame:
                continue
            head = self._flow.at(later.line)
            if head.is_head and head.is_asked and not head.targets and not head.asks_for_none and names & head.inside:
                self._note([head.line], likely=True)
            names -= set(later.made)
            if not names:
                return

    def _made_none(self, number: int, statement: Statement) -> Iterator[int]:
        """Note who made None of what a condition asks for, and yield whoever called the functions that got it."""
        makers = [self._bound(number, name) for name in sorted(statement.reads) if self._is_none(number, name)]
        if not makers and not statement.attributes and statement.is_head:
            self._note([statement.line], likely=True)  # it is there, and asked for the other way round
        for maker in makers:
            by = self._flow.at(self._trace.passed[maker].line)
            if by.begins:
                continue
            if any(self._is_none(maker, name) for name in by.reads):  # it hands on what it got
                self._note([by.line], far=True)
                yield from self._made_none(maker, by)
                continue
            self._note([line for line in by.heads if self._flow.at(line).is_asked][-1:], likely=True)
            self._note([by.line], likely=True)
            self._heads(by)
        caller = self._trace.passed[number].caller
        if caller >= 0 and any(self._flow.at(self._trace.passed[maker].line).begins for maker in makers):
            yield self._called(caller, likely=True)  # an argument for which its function got nothing
            yield from self._made_none(caller, self._flow.at(self._trace.passed[caller].line))

    def _heads(self, statement: Statement) -> None:
        """Note the conditions and loops that a statement stands in, and those that might have handed something back."""
        for line in (*statement.heads, *(at for at in statement.left if self._flow.at(at).returns)):
            head = self._flow.at(line)
            if head.is_asked and not head.asks_for_none and (not head.targets or head.targets & statement.reads):
                self._note([line])
            if head.targets & statement.reads:
                given = (at for name in head.attributes for at, _text in self._statements.given(name, line))
                self._note(at for at in given if at in self._ran)

    def _note(self, lines: Iterable[int], *, far: bool = False, likely: bool = False) -> None:
        for line in lines:
            statement = self._flow.at(line)
            if self._flow.is_own(line, self._model):
                if likely:
                    self._likely.setdefault(statement.line)
                if statement.line not in self._found and (far or statement.is_plain or statement.targets):
                    self._far[statement.line] = 2 if statement.is_plain else 1
                self._found.setdefault(statement.line)


def _makes_weights(text: str) -> bool:
    return any(f"{name}(" in text for name in OF_WEIGHTS)
