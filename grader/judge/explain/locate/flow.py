"""What the text of a file says of its statements: which names each reads, and on which conditions it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

JUMPS: Final = (ast.Break, ast.Continue, ast.Return, ast.Raise)
LOOPS: Final = (ast.For, ast.While)
COMPOUND: Final = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
SIZED: Final = ("Linear", "Parameter", "Embedding", "LayerNorm")
"""Layers that hang on what they are made with; another class has statements of its own."""
DTYPES: Final = ("dtype", "float16", "bfloat16", "half", "float32", "float64")
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, or the head of one that has others inside."""

    line: int
    reads: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    """The names of attributes that it reads."""
    sets: frozenset[str] = frozenset()
    """The names of attributes that it may change."""
    heads: tuple[int, ...] = ()
    """The lines of the conditions and loops that it stands in."""
    left: tuple[int, ...] = ()
    """The lines of those before it that may have left the function or the loop."""
    stores: frozenset[str] = frozenset()
    is_head: bool = False
    is_asked: bool = False
    """Whether it is a head that asks for something, or goes through something: no `with`."""
    jumps: bool = False
    is_bare: bool = False
    """Whether it only hands back what has names already."""
    is_guard: bool = False
    """Whether it is the head of a condition outside of all loops that may leave the function."""
    returns: bool = False
    """Whether it is the head of a condition outside of all loops that may hand something back."""
    begins: bool = False
    """Whether it is where a function begins."""
    inside: frozenset[str] = frozenset()
    """Of a head: the names that are bound below it."""
    targets: frozenset[str] = frozenset()
    """Of a loop: the names that it binds itself."""
    ends: tuple[int, ...] = ()
    """Of a loop: the lines of the conditions in it on which it may end."""
    text: str = ""
    """What it says, whatever its layout; of a head what it asks."""
    acts: str = ""
    """What a statement calls that does nothing but call something: "step" in optimizer.step()."""
    drops: bool = False
    """Whether it has a value that nobody gets."""
    is_plain: bool = False
    """Whether it can hardly be wrong: it asks for a dtype, names all parts of something, keeps an argument or layer."""
    asks_for_none: bool = False
    """Whether it is the head of a condition that asks for nothing but whether something is there."""


class Flow:
    """The statements of a file by their lines."""

    def __init__(self, source: str) -> None:
        self._at: dict[int, Statement] = {}
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        self._look(tree.body)

    def at(self, line: int) -> Statement:
        """Return the statement that a line belongs to."""
        return self._at.get(line) or Statement(line)

    def every(self) -> list[Statement]:
        """Return the statements in their order."""
        return [statement for line, statement in sorted(self._at.items()) if line == statement.line]

    def begin_of(self, line: int) -> int:
        """Return the line at which the function or class begins that stands before a line last; 0 for none."""
        return max((one.line for one in self.every() if one.begins and one.line < line), default=0)

    def is_own(self, line: int, model: Flow) -> bool:
        """Whether another file does not have the statement of a line word for word."""
        return self.at(line).text not in model.texts

    @cached_property
    def texts(self) -> frozenset[str]:
        """What the statements say."""
        return frozenset(statement.text for statement in self._at.values() if statement.text)

    def _look(
        self, body: list[ast.stmt], heads: tuple[int, ...] = (), left: tuple[int, ...] = (), *, in_loop: bool = False
    ) -> None:
        for node in body:
            if isinstance(node, FUNCTIONS):
                self._note(node, range(node.lineno, node.body[0].lineno), Statement(node.lineno, begins=True))
                self._look(node.body)
            elif isinstance(node, COMPOUND):
                parts = list(_parts_of_head(node))
                self._note(node, _head_lines(node), _statement(node, heads, left, parts, in_loop=in_loop))
                leaving = _heads_that_leave(node)
                loops = isinstance(node, LOOPS)
                for inner in _bodies(node):
                    behind = (*left, *(leaving if loops else ()))
                    self._look(inner, (*heads, node.lineno), behind, in_loop=in_loop or loops)
                left = (*left, *leaving)  # what comes behind it runs only where it was not left
            else:
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                self._note(node, lines, _statement(node, heads, left, [node], in_loop=in_loop))

    def _note(self, node: ast.stmt, lines: range, statement: Statement) -> None:
        for line in lines or (node.lineno,):
            self._at.setdefault(line, statement)


@lru_cache(maxsize=8)
def flow_of(source: str) -> Flow:
    """Return the statements of a file, which somebody may have asked for just now."""
    return Flow(source)


def _statement(
    node: ast.stmt, heads: tuple[int, ...], left: tuple[int, ...], parts: list[ast.AST], *, in_loop: bool
) -> Statement:
    every = [inner for part in parts for inner in ast.walk(part)]
    names = {inner.id for inner in every if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)}
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        names.add(node.target.id)
    attributes = [inner for inner in every if isinstance(inner, ast.Attribute)]
    changed = {inner.attr for inner in attributes if not isinstance(inner.ctx, ast.Load)}
    for inner in every:  # self.x.append(...), self.x[0] = ...
        if isinstance(inner, (ast.Call, ast.Subscript)):
            target = inner.func.value if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) else None
            target = inner.value if isinstance(inner, ast.Subscript) else target
            if isinstance(target, ast.Attribute):
                changed.add(target.attr)
    return Statement(
        node.lineno,
        frozenset(names),
        frozenset(inner.attr for inner in attributes),
        frozenset(changed),
        heads,
        left,
        frozenset(inner.id for inner in every if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load)),
        is_head=isinstance(node, COMPOUND),
        is_asked=isinstance(node, (ast.If, ast.Match, *LOOPS)),
        jumps=isinstance(node, JUMPS),
        is_bare=isinstance(node, ast.Return) and _is_bare(node.value),
        is_guard=isinstance(node, ast.If) and not in_loop and _heads_that_leave(node) != (),
        returns=isinstance(node, ast.If) and not in_loop and any(isinstance(n, ast.Return) for n in ast.walk(node)),
        inside=_stored([inner for body in _bodies(node) for inner in body]),
        targets=_stored([node.target]) if isinstance(node, ast.For) else frozenset(),
        ends=tuple(at for at in _heads_that_leave(node) if at != node.lineno) if isinstance(node, LOOPS) else (),
        text=" ".join(map(ast.dump, parts)),
        acts=_called(node.value) if isinstance(node, ast.Expr) else "",
        drops=isinstance(node, ast.Expr) and not isinstance(node.value, (ast.Constant, ast.Yield, ast.YieldFrom)),
        is_plain=_is_plain(node),
        asks_for_none=isinstance(node, ast.If) and _is_about_none(node.test),
    )


def _stored(nodes: Sequence[ast.AST]) -> frozenset[str]:
    every = (inner for node in nodes for inner in ast.walk(node))
    return frozenset(inner.id for inner in every if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load))


def _is_about_none(test: ast.expr) -> bool:
    one = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Is, ast.IsNot))
    return one and isinstance(test, ast.Compare) and ast.unparse(test.comparators[0]) == "None"


def _called(value: ast.expr) -> str:
    return ast.unparse(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""


def _is_plain(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        return _asks_for_a_dtype(node.test)
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    if isinstance(value, ast.IfExp):
        named = all(isinstance(one, (ast.Name, ast.Attribute, ast.Constant)) for one in (value.body, value.orelse))
        return _asks_for_a_dtype(value.test) or (named and _is_about_none(value.test))
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or value is None:
        return False
    target = node.targets[0]
    if isinstance(target, ast.Tuple):
        called = value.func if isinstance(value, ast.Call) and not value.args else value
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        is_shape = isinstance(called, ast.Attribute) and called.attr in ("shape", "size")
        return is_shape or all(isinstance(one, (ast.Name, ast.Attribute)) for one in parts)
    made = ast.unparse(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
    if isinstance(target, ast.Attribute):
        return isinstance(value, ast.Name) or (made[:1].isupper() and made not in SIZED)
    return isinstance(value, ast.Attribute) and ast.unparse(value.value) == "self"


def _asks_for_a_dtype(test: ast.expr) -> bool:
    return any(isinstance(one, ast.Attribute) and one.attr in DTYPES for one in ast.walk(test))


def _is_bare(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Tuple):
        return all(isinstance(item, ast.Name) for item in value.elts)
    return value is None or isinstance(value, ast.Name)


def _heads_that_leave(node: ast.stmt) -> tuple[int, ...]:
    """Return the lines of the heads in a statement, its own among them, that a jump stands in."""
    heads = (inner for inner in ast.walk(node) if isinstance(inner, COMPOUND))
    return tuple(sorted(head.lineno for head in heads if any(isinstance(one, JUMPS) for one in ast.walk(head))))


def _head_lines(node: ast.stmt) -> range:
    body: list[ast.stmt] = next(iter(_bodies(node)), [])
    return range(node.lineno, max(node.lineno + 1, body[0].lineno if body else node.lineno + 1))


def _parts_of_head(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield what a head evaluates; the target of a loop is no part of it."""
    if isinstance(node, (ast.If, ast.While)):
        yield node.test
    elif isinstance(node, ast.For):
        yield node.iter
    elif isinstance(node, ast.With):
        yield from node.items
    elif isinstance(node, ast.Match):
        yield node.subject


def _bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for key in ("body", "orelse", "finalbody"):
        if inner := getattr(node, key, None):
            yield inner
    for handler in getattr(node, "handlers", ()):
        yield handler.body
    for case in getattr(node, "cases", ()):
        yield case.body
