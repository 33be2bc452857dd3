"""Which lines of a known wrong answer are wrong: those that its writer marked, or in which it differs from a right one.

Of right answers the nearest is meant.

Statements are compared, not lines: comments, docstrings, annotations and imports make no difference. Where a statement
is missing, the mark is on those above and below the hole, on what stands there to do nothing, and on the first one that
reads what would have been made there.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import Final

from grader import catalog
from grader.dev.answers import Known, known_answers
from grader.judge.explain.locate.flow import flow_of
from grader.judge.explain.locate.statements import Statements

MOST_CHANGED: Final = 6
"""With more changed statements than so many it is another answer, not one with a mistake in it."""
MARK: Final = "# wrong"
"""How a writer marks a wrong line."""
_BLOCKS: Final = ("body", "orelse", "finalbody", "handlers")

Statement = tuple[int, str]
"""How deep a statement stands, and its text: of one with a body the head alone."""


def marks(answer: Known) -> frozenset[int]:
    """Return the lines at which the wrong statements of an answer begin; empty where it is like no right answer."""
    if written := [at for at, line in enumerate(answer.source.splitlines(), 1) if line.endswith(MARK)]:
        return frozenset(map(Statements(answer.source).of, written))
    if answer.kind == "mistake":
        return changed(answer.source, catalog.find(answer.kata).reference())
    found = [changed(answer.source, right) for right in _right_answers(answer.kata)]
    return min((lines for lines in found if lines), key=len, default=frozenset())


@cache
def _right_answers(kata: str) -> tuple[str, ...]:
    return tuple(answer.source for answer in known_answers(catalog.find(kata)) if answer.accepted)


def changed(source: str, right: str) -> frozenset[int]:
    """Return the lines of the statements that another text does not have; empty where these are too many."""
    try:
        mine, theirs = _statements(source), _statements(right)
    except SyntaxError:
        return frozenset()
    places: set[int] = set()
    count = 0
    nothings, idle = _idle(source), set[int]()
    matcher = SequenceMatcher(None, [one for one, _line in mine], [one for one, _line in theirs], autojunk=False)
    for kind, start, stop, first, last in matcher.get_opcodes():
        if kind == "equal":
            continue
        count += max(stop - start, last - first)
        places.update(range(start, stop) if stop > start else (max(start - 1, 0), min(start, len(mine) - 1)))
        if stop == start:
            made = {name for _one, line in theirs[first:last] for name in flow_of(right).at(line).stores}
            places.update(_first_reads(source, mine, start, made))
        begin, end = (mine[start - 1][1] if start else 0), (mine[stop][1] if stop < len(mine) else sys.maxsize)
        idle.update(line for line in nothings if begin < line < end)
        if any(text.startswith("Raise ") for (_depth, text), _line in theirs[first:last]):  # nothing is refused there
            heads = [at for at in range(start) if mine[at][0][1].startswith("FunctionDef ")]
            places.update(heads[-1:])
    if not 0 < count <= MOST_CHANGED:
        return frozenset()
    return _with_decorators(source, {mine[at][1] for at in places} | idle)


def _first_reads(source: str, mine: list[tuple[Statement, int]], hole: int, made: set[str]) -> Iterator[int]:
    """Yield the statements behind a hole in a function that are the first to read what should be ``made`` in it."""
    for at in range(hole, len(mine)):
        (_depth, text), line = mine[at]
        if not made or text.startswith(("FunctionDef ", "ClassDef ")):
            return
        statement = flow_of(source).at(line)
        if made & statement.reads:
            yield at
        made -= statement.reads | statement.stores


def _with_decorators(source: str, lines: set[int]) -> frozenset[int]:
    """Return lines, and those of what stands above the functions that begin there."""
    heads = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    above = ([one.lineno for one in node.decorator_list] for node in heads if node.lineno in lines)
    return frozenset(lines.union(*above))


def _idle(source: str) -> list[int]:
    """Return the lines of the statements that only give a name its own numbers again."""
    assigned = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assign))
    return [node.lineno for node in assigned if _does_nothing(node)]


def _statements(source: str) -> list[tuple[Statement, int]]:
    return list(_of(ast.parse(source).body, 0))


def _of(body: Sequence[ast.AST], depth: int) -> Iterator[tuple[Statement, int]]:
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        if (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) or _does_nothing(node):
            continue
        assert isinstance(node, (ast.stmt, ast.ExceptHandler))
        yield (depth, _head(node)), node.lineno
        for block in _BLOCKS:
            yield from _of(getattr(node, block, ()), depth + 1)


def _does_nothing(node: ast.AST) -> bool:
    """Whether a statement only stands where another one should: `pass`, `x = x`, `x = x * 1.0`."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return isinstance(node, ast.Pass)
    name = ast.unparse(node.targets[0])
    return ast.unparse(node.value) in (name, f"{name} * 1.0")


def _head(node: ast.AST) -> str:
    """Return the text of a statement without its body and its annotations."""
    fields = {name: value for name, value in ast.iter_fields(node) if name not in (*_BLOCKS, "returns", "type_params")}
    if isinstance(node, ast.AnnAssign):
        fields.pop("annotation")
    return f"{type(node).__name__} {[_bare(value) for value in fields.values()]}"


def _bare(value: object) -> str:
    if isinstance(value, list):
        return str([_bare(one) for one in value])
    if isinstance(value, ast.AST):
        for inner in ast.walk(value):
            if isinstance(inner, ast.arg):
                inner.annotation = None
        return ast.dump(value)
    return str(value)
