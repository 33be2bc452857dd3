"""A model answer as anybody might have written it: without comments, with the stub's docstrings, without idle lines.

Comments and docstrings of a reference tell what is right, and so where a planted mistake contradicts them. Some known
mistakes leave traces that nobody would write, `scores = scores * 1.0` in the place of the scaling.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from typing import Final

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS: Final = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def plain(source: str, stub: str) -> str:
    """Return `source` without comments and idle statements, and with the docstrings of `stub` or none.

    Raises SyntaxError where one of the two is no Python.
    """
    return _without_idle_statements(_without_comments(_with_docstrings_of(stub, source)))


def without_unused_imports(source: str, before: str) -> str:
    """Return `source` without the imports that `before`, which has them too, uses and `source` no longer does."""
    lines, tree = source.splitlines(), ast.parse(source)
    needless = _named(ast.parse(before)) - _named(tree)
    for node in reversed(tree.body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            kept = [name for name in node.names if (name.asname or name.name.partition(".")[0]) not in needless]
            if len(kept) < len(node.names):
                node.names = kept
                _replace(lines, node, [ast.unparse(node)] if kept else [])
    return _joined(lines)


def unread(source: str) -> set[str]:
    """Return the names that functions set and nobody reads: an editor shows them in grey."""
    tree = ast.parse(source)
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    names = (node for function in functions for node in ast.walk(function) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)} - _named(tree)


# --- docstrings


def _with_docstrings_of(stub: str, source: str) -> str:
    lines, others = source.splitlines(), stub.splitlines()
    theirs = {name: others[node.lineno - 1 : _end(node)] for name, _, node in _docstrings(ast.parse(stub))}
    for name, scope, node in reversed(list(_docstrings(ast.parse(source)))):
        if name in theirs or len(scope.body) > 1:
            _replace(lines, node, theirs.get(name, []))
    return _joined(lines)


def _docstrings(
    scope: ast.Module | Definition, path: str = ""
) -> Iterator[tuple[str, ast.Module | Definition, ast.Expr]]:
    """Yield the docstrings of a file from top to bottom: the dotted name of what each describes, that, and itself."""
    first = scope.body[0] if scope.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        yield path, scope, first
    for node in scope.body:
        if isinstance(node, _DEFINITIONS):
            yield from _docstrings(node, f"{path}.{node.name}")


# --- comments


def _without_comments(source: str) -> str:
    lines = source.splitlines()
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    for number, column in reversed([token.start for token in tokens if token.type == tokenize.COMMENT]):
        lines[number - 1] = lines[number - 1][:column].rstrip()
        if not lines[number - 1]:
            _cut(lines, number - 1, number)
    return _joined(lines)


# --- statements that do nothing


def _without_idle_statements(source: str) -> str:
    shorter: str | None = source
    while shorter is not None:
        source = shorter
        tree = ast.parse(source)
        read = _named(tree)
        functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
        nodes = (node for function in functions for node in ast.walk(function))
        candidates = (_without_idle(source, node, read) for node in nodes)
        shorter = next((text for text in candidates if text and _is_python(text)), None)
    return source


def _without_idle(source: str, node: ast.AST, read: set[str]) -> str:
    """Return the file without what one statement does in vain, nothing where it does something."""
    if not isinstance(node, (ast.Assign, ast.If)):
        return ""
    lines = source.splitlines()
    new: list[str] | None
    if isinstance(node, ast.Assign):
        new = [] if _is_idle(node, read) else None
    elif not node.orelse and isinstance(node.test, ast.Constant) and node.test.value is True:
        by = node.body[0].col_offset - node.col_offset
        new = [line[by:] if line.strip() else line for line in lines[node.lineno : _end(node)]]
    else:
        idle = (isinstance(inner, ast.Pass) or _is_idle(inner, read) for inner in node.body)
        new = [] if not node.orelse and all(idle) else None
    if new is None:
        return ""
    _replace(lines, node, new)
    return _joined(lines)


def _is_idle(node: ast.stmt, read: set[str]) -> bool:
    """Tell whether a statement gives a name its own value, `x = x` or `x = x * 1.0`, or a name that nobody reads."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return False
    name, value = node.targets[0].id, node.value
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Mult, ast.Div)) and _is_one(value.right):
        value = value.left
    return name not in read or (isinstance(value, ast.Name) and value.id == name)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


# --- lines


def _replace(lines: list[str], node: ast.stmt, new: list[str]) -> None:
    if new:
        lines[node.lineno - 1 : _end(node)] = new
    else:
        _cut(lines, node.lineno - 1, _end(node))


def _cut(lines: list[str], start: int, end: int) -> None:
    """Take lines out, and of the empty ones that then meet the smaller number."""
    above, below = start, end
    while above > 0 and not lines[above - 1].strip():
        above -= 1
    while below < len(lines) and not lines[below].strip():
        below += 1
    between = max(start - above, below - end)
    if above == 0 or (above == start and lines[above - 1].endswith(":")) or below == len(lines):
        between = 0
    lines[above:below] = [""] * between


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def _end(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def _named(tree: ast.Module) -> set[str]:
    """Return the names that a file reads."""
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in names if not isinstance(node.ctx, ast.Store)}
