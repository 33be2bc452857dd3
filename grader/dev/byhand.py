"""The example by hand of a brief, held against the reference: the first case of the kata has the same numbers.

Every number of the example must be one that occurs there: a row of an input, of a result, or of something that the
reference computes on the way. What is shown of an input or a result is shown whole, rows in order, and at least one
result of each call is. Settings (``pad_id=0``) are compared by name.
"""

from __future__ import annotations

import itertools
import math
import re
import sys
import types
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from grader.catalog import Kata
from grader.dev import briefs
from grader.dev.rehearsal import SEED, Witness, cases_of
from grader.errors import KataError
from grader.judge.cases.case import CORE
from grader.judge.cases.variant import Variant
from grader.judge.contract import Grading, Reference
from grader.judge.failure import Failure
from grader.judge.runs.lives import live, play
from grader.judge.runs.outcome import CaseOutcome
from grader.transport.callables import Step

NAME: Final = "test_by_hand"
_COMMENT: Final = re.compile(r"\s#.*")
_INDEX: Final = re.compile(r"(?<=[^\W\d])(\[[^\[\]]*\]|\([^()\[\]]*\))")
"""What stands right behind a name: `weights[0]`, `exp(2)`."""
_SETTING: Final = re.compile(r"(\w+)=(-?[\d.]+)")
TOKEN: Final = re.compile(r"(?<![\w.=])(?:True|False|T|F|·|-?(?:inf|∞)|-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?)(?![\w=]|\.\d)")
_BEFORE, _BEHIND = re.compile(r"[^\])\s]\s*,\s*$"), re.compile(r"\s*,")
_EXACT: Final = 1e-6

Row = tuple[float | str, ...]
"""Numbers; truth values are `T` and `F`, which are no numbers."""
Matrix = tuple[Row, ...]
Stack = tuple[Matrix, ...]
"""A tensor: its matrices of two axes; a number and a list of numbers are matrices of one row."""
Place = tuple[int, int]
"""Line and number of the token in it."""


@dataclass
class Facts:
    """What occurs in the first case of a kata."""

    inputs: list[Stack] = field(default_factory=list)
    results: list[list[Stack]] = field(default_factory=list)
    """Of each call."""
    parameters: list[Stack] = field(default_factory=list)
    between: dict[Stack, None] = field(default_factory=dict)
    settings: dict[str, set[float]] = field(default_factory=dict)


def problems(kata: Kata) -> Iterator[str]:
    """Yield what is wrong with the examples of both briefs, a sentence each."""
    texts = {lang: kata.brief(lang) for lang in briefs.BY_HAND}
    try:
        facts = facts_of(kata)
    except (KataError, ValueError) as error:
        yield str(error)
        return
    for lang, text in texts.items():
        yield from (f"{lang}: {problem}" for problem in disagreements(text, facts))
    english, *others = ([tokens(line) for line in briefs.numbers_of(text)] for text in texts.values())
    for lang, other in zip(list(texts)[1:], others, strict=True):
        if other != english:
            yield f"the numbers of the example differ between en and {lang}"


def facts_of(kata: Kata) -> Facts:
    """Run the first case with the reference. Raises ValueError where it is not there, or is none."""
    first = next(cases_of(kata), None)
    if first is None or first.name != NAME or first.family != CORE:
        raise ValueError(f"the first case must be `def {NAME}(check)`, of the family {CORE}")
    facts, filename = Facts(), str(kata.solution / "reference.py")
    grading = Grading(Reference(kata), SEED)
    witness = Witness(kata.reference(), filename, _Collector(filename, facts))
    outcome = CaseOutcome(first, Variant(CORE, dtype=torch.float64))
    check = live(outcome, grading, witness, judges=False)
    try:
        play(outcome, grading, check)
        check.settle()
    except Failure as failure:
        raise ValueError(f"{NAME}: the reference fails: {failure}") from failure
    for exchange in check.exchanges:
        given = _stacks([exchange.trees["args"], exchange.trees["kwargs"]])
        facts.inputs += given
        facts.parameters += _stacks(exchange.trees.get("state"))
        _note_settings(facts, exchange.trees["kwargs"])
        if exchange.header["op"] == "call" and exchange.compared:
            facts.results.append(list(_stacks(exchange.want)))
    return facts


class _Collector(AbstractContextManager[None]):
    """Notes the numbers that the functions of a file have in their variables while they run."""

    def __init__(self, filename: str, facts: Facts) -> None:
        self._filename, self._facts = filename, facts
        self._before: Any = None

    def __enter__(self) -> None:
        self._before = sys.gettrace()
        sys.settrace(self._trace)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _trace(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != self._filename or frame.f_code.co_name == "<module>":
            return None
        if event in ("line", "return"):
            sys.settrace(None)
            self._note(frame.f_locals, argument)
            sys.settrace(self._trace)
        return self._trace

    def _note(self, variables: dict[str, Any], returned: Any) -> None:
        _note_settings(self._facts, variables)
        plain = [value for value in variables.values() if isinstance(value, (torch.Tensor, list, tuple, dict, float))]
        self._facts.between |= dict.fromkeys(_stacks([plain, returned]))


def _note_settings(facts: Facts, variables: dict[str, Any]) -> None:
    for name, value in variables.items():
        if type(value) in (int, float, bool):
            facts.settings.setdefault(name, set()).add(float(value))


def _stacks(tree: Any) -> Iterator[Stack]:
    """Yield the tensors, the numbers and the lists of numbers of a tree."""
    if isinstance(tree, Step):
        tree = tree.table
    if isinstance(tree, torch.Tensor):
        values = tree.detach() if tree.dtype == torch.bool else tree.detach().double()
        if values.numel():  # of nothing no shape can be inferred
            shape = (-1, values.shape[-2] if values.dim() > 1 else 1, values.shape[-1] if values.dim() else 1)
            stack = values.reshape(shape)
            yield tuple(tuple(map(_row, matrix)) for matrix in stack.tolist())
    elif isinstance(tree, (int, float)):
        yield ((_row([tree]),),)
    elif isinstance(tree, (list, tuple)) and tree and all(type(item) in (int, float, bool) for item in tree):
        yield ((_row(tree),),)
    elif isinstance(tree, (list, tuple)):
        for item in tree:
            yield from _stacks(item)
    elif isinstance(tree, dict):
        yield from _stacks(list(tree.values()))


def _rows(stacks: Iterable[Stack]) -> set[Row]:
    return {row for stack in stacks for matrix in stack for row in matrix}


def _row(values: Iterable[float]) -> Row:
    return tuple(("T" if value else "F") if isinstance(value, bool) else value for value in values)


# --- comparing --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Token:
    """A number or a truth value on paper, and whether a comma stands before and behind it."""

    text: str
    follows: bool
    goes_on: bool


Line = list[Token]


def tokens(line: str) -> Line:
    """Return the numbers and truth values of a line, without comments and what only names a place."""
    line = plain(line)
    return [
        Token(
            found[0], _BEFORE.search(line[: found.start()]) is not None, _BEHIND.match(line[found.end() :]) is not None
        )
        for found in TOKEN.finditer(line)
    ]


def plain(line: str) -> str:
    """Return a line with blanks in the place of comments and of what only names a place."""
    return _INDEX.sub(_blank, _COMMENT.sub(_blank, line))


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def disagreements(brief: str, facts: Facts) -> Iterator[str]:
    """Yield what the example of a brief shows and does not occur, and what it should show."""
    paper = Paper([tokens(line) for line in briefs.numbers_of(brief)])
    yield from _wrong_settings(briefs.example_of(brief), facts)
    for stack in facts.inputs:
        if not paper.shows(stack) and paper.begins(stack):
            yield f"an input is shown in part, or out of order: {_written(stack)}"
    for stack in facts.parameters:
        paper.shows(stack)
    for number, call in enumerate(facts.results, 1):
        placed = [paper.shows(stack) for stack in call]
        if call and not any(placed):
            yield f"no result of call {number} is shown whole: {_written(call[0])}"
        for stack, whole in zip(call, placed, strict=True):
            if not whole and paper.begins(stack):
                yield f"a result of call {number} is shown in part, or out of order: {_written(stack)}"
    yield from paper.left_over(facts)


def _wrong_settings(example: Iterable[str], facts: Facts) -> Iterator[str]:
    for name, value in _SETTING.findall("\n".join(example)):
        if name in facts.settings and float(value) not in facts.settings[name]:
            yield f"{name}={value} is not what the first case has: {sorted(facts.settings[name])}"


class Paper:
    """The lines of an example, on which tensors are looked for: each must have a place of its own."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._taken: set[Place] = set()
        self._found: set[Stack] = set()

    def shows(self, stack: Stack) -> bool:
        """Find a place for a tensor; one that has been found is shown."""
        return stack in self._found or self._place(stack)

    def _place(self, stack: Stack) -> bool:
        """Find a place for each row of a tensor, those of a matrix one behind or below the other."""
        mine: set[Place] = set()
        for matrix in stack:
            last: Place = (-1, -1)
            for row in matrix:
                free = (place for place in self._free(row, mine) if place > last)
                last = next(free, (-1, -1))
                if last == (-1, -1):
                    return False
                mine |= _span(last, row)
        self._taken |= mine
        self._found.add(stack)
        return True

    def begins(self, stack: Stack) -> bool:
        """Tell whether a row that is like no other, because its numbers differ, stands there for nothing else."""
        return any(True for row in _rows([stack]) if len(set(row)) > 1 for _place in self._free(row, set()))

    def left_over(self, facts: Facts) -> Iterator[str]:
        """Yield what stands there and does not occur.

        Of what was computed on the way a matrix is enough, and everything may be shown more than once. A number alone
        must be a fraction there: sizes and counts would allow too many. Of a line, those that occur nowhere are named.
        """
        known = [*facts.inputs, *facts.parameters, *itertools.chain(*facts.results)]
        between = dict.fromkeys((matrix,) for stack in facts.between for matrix in stack)
        telling = [stack for stack in between if any(len(row) > 1 or _is_fraction(row) for row in _rows([stack]))]
        for stack in (*telling, *known):
            while self._place(stack):
                pass
        values = {value for row in _rows([*telling, *known]) for value in row}
        for number, line in enumerate(self._lines):
            left = [token for index, token in enumerate(line) if (number, index) not in self._taken]
            nowhere = [token for token in left if not any(_says(token, value) for value in values)]
            said = " ".join(one.text for one in line)
            for token in nowhere or left:
                how = "" if nowhere else " like this"
                yield f"{token.text} in `{said}` does not occur{how} in the first case"

    def _free(self, row: Row, mine: set[Place]) -> Iterator[Place]:
        for place in self._occurrences(row):
            if not _span(place, row) & (self._taken | mine):
                yield place

    def _occurrences(self, row: Row) -> Iterator[Place]:
        """Yield where a row stands, and not as a part of a list that goes on."""
        for number, line in enumerate(self._lines):
            for start in range(len(line) - len(row) + 1):
                run = line[start : start + len(row)]
                if not run[0].follows and not run[-1].goes_on and all(map(_says, run, row)):
                    yield number, start


def _is_fraction(row: Row) -> bool:
    return len(row) == 1 and isinstance(row[0], float) and bool(row[0] % 1)


def _span(place: Place, row: Row) -> set[Place]:
    number, start = place
    return {(number, start + step) for step in range(len(row))}


def _says(token: Token, value: float | str) -> bool:
    """Tell whether what was written is this value, to the digits that it was written with."""
    text = token.text
    if isinstance(value, str) or text[0] in "TF":
        return text[0] == value
    number = 0.0 if text == "·" else float(text.replace("∞", "inf"))
    if math.isinf(number) or math.isinf(value):
        return number == value
    decimals = len(text.partition(".")[2].partition("e")[0])
    return abs(number - value) <= (0.5 * 10.0**-decimals + _EXACT if decimals and "e" not in text else _EXACT)


def _written(stack: Stack) -> str:
    return str([[[x if isinstance(x, str) else round(x, 4) for x in row] for row in matrix] for matrix in stack])
