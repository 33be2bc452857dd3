"""General mutants: an answer with one operator, number, argument or statement of it changed.

The operators are those of mutation testing (DeMillo, Lipton and Sayward, 1978): another operator, the next number, the
other truth value, a condition that always or never holds, an argument or a call in a chain left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

OPERATORS: Final[dict[type[ast.AST], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "%"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
MODULES: Final = ("torch", "math", "nn", "F")


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a text: from a place to another one, and what stands there instead."""

    line: int
    start: int
    end: int
    text: str

    def applied_to(self, source: bytes) -> str:
        """Return the changed text."""
        return (source[: self.start] + self.text.encode() + source[self.end :]).decode()

    def described(self, source: bytes) -> str:
        """Say what is changed: the line, and what becomes of what."""
        before = " ".join(source[self.start : self.end].decode().split())
        return f"line {self.line}: {before} → {self.text}"


def edits(source: str) -> Iterator[Edit]:
    """Yield all changes of an answer."""
    changes = _Changes(source)
    left_alone = set(_left_alone(ast.parse(source)))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.expr, ast.stmt)) and _place_of(node) not in left_alone:
            yield from changes.of(node)


class _Changes:
    """The changes of each node of a text."""

    def __init__(self, source: str) -> None:
        self._text = source.encode()
        self._starts = [0]
        for line in self._text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def of(self, node: ast.expr | ast.stmt) -> Iterator[Edit]:
        """Yield what can be changed about a node."""
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                yield from self._between(left, right, op)
            case ast.BoolOp(values=[left, right, *_], op=op):
                yield from self._between(left, right, op)
            case ast.Compare(left=left, ops=[op, *_], comparators=[right, *_]):
                yield from self._between(left, right, op)
            case ast.UnaryOp(operand=operand):
                yield self._replaced(node, ast.unparse(operand))
            case ast.Constant(value=value):
                yield from (self._replaced(node, new) for new in _other_constants(value))
            case ast.If(test=test) | ast.IfExp(test=test):
                yield from (self._replaced(test, new) for new in ("True", "False"))
            case ast.Call():
                yield from (self._replaced(node, new) for new in _shorter_calls(node))
            case ast.AugAssign() | ast.Expr() | ast.Raise():
                yield self._replaced(node, "pass")

    def _place(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[end_line - 1] + end

    def _replaced(self, node: ast.expr | ast.stmt, new: str) -> Edit:
        return Edit(node.lineno, *self._place(node), new)

    def _between(self, left: ast.expr, right: ast.expr, operator: ast.AST) -> Iterator[Edit]:
        old, new = OPERATORS.get(type(operator), ("", ""))
        at = self._text.find(old.encode(), self._place(left)[1], self._place(right)[0]) if old else -1
        if at >= 0:
            yield Edit(left.end_lineno or left.lineno, at, at + len(old), new)


def _place_of(node: ast.expr | ast.stmt) -> tuple[int, int, str]:
    """Return what tells a node from others of its text."""
    return node.lineno, node.col_offset, type(node).__name__


def _left_alone(tree: ast.AST) -> Iterator[tuple[int, int, str]]:
    """Yield what is no code: docstrings, annotations, sentences of exceptions."""
    for node in ast.walk(tree):
        part: ast.AST | None = None
        match node:
            case ast.FunctionDef(returns=part) | ast.arg(annotation=part) | ast.AnnAssign(annotation=part):
                pass
            case ast.Expr(value=ast.Constant()) | ast.JoinedStr():
                part = node
            case ast.Raise(exc=part):
                pass
        if part is not None:
            yield from (_place_of(n) for n in ast.walk(part) if isinstance(n, (ast.expr, ast.stmt)))


def _other_constants(value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield repr(not value)
    elif isinstance(value, int):
        yield from (repr(value + 1), repr(value - 1))
    elif isinstance(value, float):
        yield from (repr(value * 2 + 1), repr(value / 2))


def _shorter_calls(node: ast.Call) -> Iterator[str]:
    """Leave out a call at the end of a chain, one around an argument, or a named argument."""
    if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value).partition(".")[0] not in MODULES:
        yield ast.unparse(node.func.value)
    if len(node.args) == 1 and not node.keywords:
        yield ast.unparse(node.args[0])
    for keyword in node.keywords:
        others = [other for other in node.keywords if other is not keyword]
        yield ast.unparse(ast.Call(node.func, node.args, others))
