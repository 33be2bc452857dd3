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
from grader.judge.cases import CORE
from grader.judge.check import Check
from grader.judge.failure import Failure
from grader.judge.grading import Grading
from grader.judge.numbers import Numbers
from grader.judge.variant import Variant
from grader.sandbox.callables import Step
from grader.sandbox.keeper_line import NoSandboxes

NAME: Final = "test_by_hand"
_COMMENT: Final = re.compile(r"\s#.*")
_INDEX: Final = re.compile(r"(?<=[^\W\d])(\[[^\[\]]*\]|\([^()\[\]]*\))")
"""What stands right behind a name: `weights[0]`, `exp(2)`."""
_SETTING: Final = re.compile(r"(\w+)=(-?[\d.]+)")
TOKEN: Final = re.compile(r"(?<![\w.=])(?:True|False|T|F|·|-?(?:inf|∞)|-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?)(?![\w=]|\.\d)")
_TRUE, _FALSE = ("True", "T", "1"), ("False", "F", "0", "·")
_EXACT: Final = 1e-6

Row = tuple[float, ...] | tuple[bool, ...]
Matrix = list[Row]
Place = tuple[int, int]
"""Line and number of the token in it."""


@dataclass
class Facts:
    """What occurs in the first case of a kata."""

    inputs: list[Matrix] = field(default_factory=list)
    results: list[list[Matrix]] = field(default_factory=list)
    """Of each call."""
    between: set[Row] = field(default_factory=set)
    settings: dict[str, set[float]] = field(default_factory=dict)


def problems(kata: Kata) -> Iterator[str]:
    """Yield what is wrong with the examples of both briefs, a sentence each."""
    texts = {lang: kata.brief(lang) for lang in briefs.BY_HAND}
    if any(map(briefs.is_old, texts.values())):
        return
    try:
        facts = facts_of(kata)
    except (KataError, ValueError) as error:
        yield str(error)
        return
    for lang, text in texts.items():
        yield from (f"{lang}: {problem}" for problem in disagreements(text, facts))
    english, *others = (list(map(tokens, briefs.numbers_of(text))) for text in texts.values())
    for lang, other in zip(list(texts)[1:], others, strict=True):
        if other != english:
            yield f"the numbers of the example differ between en and {lang}"


def facts_of(kata: Kata) -> Facts:
    """Run the first case with the reference. Raises ValueError where it is not there, or is none."""
    first = next(cases_of(kata.solution / "cases.py"), None)
    if first is None or first.name != NAME or first.family != CORE:
        raise ValueError(f"the first case must be `def {NAME}(check)`, of the family {CORE}")
    facts, filename = Facts(), str(kata.solution / "reference.py")
    grading = Grading(kata, kata.reference(), kata.filename, SEED, NoSandboxes())
    witness = Witness(kata.reference(), filename, _Collector(filename, facts))
    check = Check(grading, Variant(CORE, dtype=torch.float64), Numbers(SEED, "weights"), witness)
    check.judges = False
    try:
        first.function(check, Numbers(SEED, first.stream))
        check.settle()
    except Failure as failure:
        raise ValueError(f"{NAME}: the reference fails: {failure}") from failure
    for exchange in check.exchanges:
        given = list(_matrices([exchange.trees["args"], exchange.trees["kwargs"]]))
        facts.inputs += given
        _note_settings(facts, exchange.trees["kwargs"])
        if exchange.header["op"] == "call" and exchange.compared:
            facts.results.append(list(_matrices(exchange.want)))
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
        modules = [value for value in variables.values() if isinstance(value, torch.nn.Module)]
        parameters = [list(module.parameters()) for module in modules if "_modules" in vars(module)]
        plain = [value for value in variables.values() if isinstance(value, (torch.Tensor, list, tuple, dict, float))]
        for matrix in _matrices([plain, parameters, returned]):
            self._facts.between.update(matrix)


def _note_settings(facts: Facts, variables: dict[str, Any]) -> None:
    for name, value in variables.items():
        if type(value) in (int, float, bool):
            facts.settings.setdefault(name, set()).add(float(value))


def _matrices(tree: Any) -> Iterator[Matrix]:
    """Yield the tensors of a tree as matrices of two axes, and its numbers and lists of numbers as such of one row."""
    if isinstance(tree, Step):
        tree = tree.table
    if isinstance(tree, torch.Tensor):
        values = tree.detach() if tree.dtype == torch.bool else tree.detach().double()
        stack = values.reshape(-1, values.shape[-2] if values.dim() > 1 else 1, values.shape[-1] if values.dim() else 1)
        yield from ([tuple(row) for row in matrix] for matrix in stack.tolist() if matrix)
    elif isinstance(tree, (int, float)):
        yield [(tree,)]
    elif isinstance(tree, (list, tuple)) and tree and all(type(item) in (int, float, bool) for item in tree):
        yield [tuple(tree)]
    elif isinstance(tree, (list, tuple)):
        for item in tree:
            yield from _matrices(item)
    elif isinstance(tree, dict):
        yield from _matrices(list(tree.values()))


# --- comparing --------------------------------------------------------------------------------------------------------


def tokens(line: str) -> list[str]:
    """Return the numbers and truth values of a line, without comments and what only names a place."""
    return TOKEN.findall(plain(line))


def plain(line: str) -> str:
    """Return a line with blanks in the place of comments and of what only names a place."""
    return _INDEX.sub(_blank, _COMMENT.sub(_blank, line))


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def disagreements(brief: str, facts: Facts) -> Iterator[str]:
    """Yield what the example of a brief shows and does not occur, and what it should show."""
    lines = [tokens(line) for line in briefs.numbers_of(brief)]
    yield from _wrong_settings(briefs.example_of(brief), facts)
    for matrix in facts.inputs:
        if _is_partly_shown(lines, matrix):
            yield f"an input is shown in part, or out of order: {_written(matrix)}"
    for number, call in enumerate(facts.results, 1):
        if call and not any(_is_shown(lines, matrix) for matrix in call):
            yield f"no result of call {number} is shown whole: {_written(call[0])}"
        for matrix in call:
            if _is_partly_shown(lines, matrix):
                yield f"a result of call {number} is shown in part, or out of order: {_written(matrix)}"
    covered = _covered(lines, facts)
    for number, line in enumerate(lines):
        for index, token in enumerate(line):
            if (number, index) not in covered:
                yield f"{token} in `{' '.join(line)}` does not occur in the first case"


def _covered(lines: list[list[str]], facts: Facts) -> set[Place]:
    """Return where numbers stand that occur; a single number on the way counts only if it has a decimal point."""
    rows = {row for matrix in itertools.chain(facts.inputs, *facts.results) for row in matrix}
    covered = _places(lines, rows)
    for row in facts.between - rows:
        places = _places(lines, [row])
        covered |= places if len(row) > 1 else {place for place in places if "." in lines[place[0]][place[1]]}
    return covered


def _wrong_settings(example: Iterable[str], facts: Facts) -> Iterator[str]:
    for name, value in _SETTING.findall("\n".join(example)):
        if name in facts.settings and float(value) not in facts.settings[name]:
            yield f"{name}={value} is not what the first case has: {sorted(facts.settings[name])}"


def _occurrences(lines: list[list[str]], row: Row) -> list[Place]:
    width = len(row)
    return [
        (number, start)
        for number, line in enumerate(lines)
        for start in range(len(line) - width + 1)
        if all(map(_says, line[start : start + width], row))
    ]


def _places(lines: list[list[str]], rows: Iterable[Row]) -> set[Place]:
    """Return where rows stand: every token of theirs."""
    return {(n, start + step) for row in rows for n, start in _occurrences(lines, row) for step in range(len(row))}


def _is_shown(lines: list[list[str]], matrix: Matrix) -> bool:
    """Tell whether all rows stand there, one behind or below the other."""
    last: Place = (-1, -1)
    for row in matrix:
        behind = [place for place in _occurrences(lines, row) if place > last]
        if not behind:
            return False
        last = behind[0]
    return True


def _is_partly_shown(lines: list[list[str]], matrix: Matrix) -> bool:
    telling = [row for row in matrix if len(set(row)) > 1]
    return any(_occurrences(lines, row) for row in telling) and not _is_shown(lines, matrix)


def _says(token: str, value: float) -> bool:
    """Tell whether a number that was written is this value, to the digits that it was written with."""
    if isinstance(value, bool):
        return token in (_TRUE if value else _FALSE)
    if token in ("True", "T", "False", "F"):
        return False
    number = 0.0 if token == "·" else float(token.replace("∞", "inf"))  # noqa: S105 - a token of a text
    if math.isinf(number) or math.isinf(value):
        return number == value
    decimals = len(token.partition(".")[2].partition("e")[0])
    return abs(number - value) <= (0.5 * 10.0**-decimals + _EXACT if decimals and "e" not in token else _EXACT)


def _written(matrix: Matrix) -> str:
    return str([[round(value, 4) for value in row] for row in matrix])
