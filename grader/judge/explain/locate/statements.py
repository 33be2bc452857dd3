"""The statements of a learner's file: which lines belong together, and where something is made."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Final

FILLS: Final = frozenset(("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort", "update"))


class Statements:
    """Which line a statement of a file begins with."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        try:
            self._tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._tree = ast.Module([], [])
        for node in ast.walk(self._tree):
            if isinstance(node, ast.stmt) and not hasattr(node, "body") and node.end_lineno:
                self._last[node.lineno] = node.end_lineno
                self._first.update(dict.fromkeys(range(node.lineno, node.end_lineno + 1), node.lineno))

    def of(self, line: int) -> int:
        """Return the first line of the statement that a line is in."""
        return self._first.get(line, line)

    def end(self, line: int) -> int:
        """Return the last line of the statement that begins at a line; of one with others inside the line itself."""
        return self._last.get(line, line)

    def function(self, owner: str, name: str) -> int:
        """Return the line at which a function begins, or a method of a class; 0 where there is none."""
        for node in self._tree.body:
            if isinstance(node, ast.ClassDef) and node.name == owner:
                found = [n.lineno for n in node.body if isinstance(n, ast.FunctionDef) and n.name == name]
                return found[-1] if found else 0
            if not name and isinstance(node, ast.FunctionDef) and node.name == owner:
                return node.lineno
        return 0

    def arguments(self, owner: str, name: str) -> list[str]:
        """Return what the arguments of a function are called, or of a method of a class."""
        made = self._made(self.function(owner, name))
        args = made.args if made is not None else None
        return [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)] if args is not None else []

    def _made(self, line: int) -> ast.FunctionDef | None:
        """Return the function that begins at a line."""
        every = ast.walk(self._tree)
        return next((node for node in every if isinstance(node, ast.FunctionDef) and node.lineno == line), None)

    def backward_of(self, line: int) -> tuple[ast.FunctionDef, ast.FunctionDef] | None:
        """Return the `forward` and `backward` of the autograd function in whose `forward` a line is."""
        for node in (one for one in ast.walk(self._tree) if isinstance(one, ast.ClassDef)):
            methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
            forward, backward = methods.get("forward"), methods.get("backward")
            if forward is not None and backward is not None and forward.lineno <= line <= (forward.end_lineno or 0):
                return forward, backward
        return None

    def returns(self, line: int) -> list[int]:
        """Return the lines at which the function that begins at a line hands something back."""
        made = self._made(line)
        return [node.lineno for node in ast.walk(made) if isinstance(node, ast.Return)] if made is not None else []

    def body(self, line: int) -> list[int]:
        """Return the lines of the statements in the function that begins at a line, its docstring left out."""
        made = self._made(line)
        inner = (node for node in ast.walk(made) if isinstance(node, ast.stmt)) if made is not None else ()
        return sorted(node.lineno for node in inner if node is not made and not _is_text(node))

    def guards(self, line: int) -> list[int]:
        """Return the conditions on which the function that begins at a line raises, or one that it calls, as lines."""
        found: list[int] = []
        left, seen = [self._made(line)], list[ast.FunctionDef]()
        every = {n.name: n for n in ast.walk(self._tree) if isinstance(n, ast.FunctionDef)}
        while left:
            made = left.pop(0)
            if made is None or made in seen:
                continue
            seen.append(made)
            heads = (node for node in ast.walk(made) if isinstance(node, ast.If))
            found += [node.lineno for node in heads if any(isinstance(inner, ast.Raise) for inner in node.body)]
            calls = (node.func for node in ast.walk(made) if isinstance(node, ast.Call))
            names = (ast.unparse(function) for function in calls)
            left += [
                every.get(name.rpartition(".")[2])
                for name in names
                if "." not in name.removeprefix("self.") or name.startswith("self.")
            ]
        return found

    def defaults(self, line: int = 0) -> dict[str, tuple[int, str]]:
        """Return the defaults of the function that a line is in, of all functions unasked: where, and what each is."""
        found: dict[str, tuple[int, str]] = {}
        for node in ast.walk(self._tree):
            if isinstance(node, ast.FunctionDef) and (not line or node.lineno <= line <= (node.end_lineno or 0)):
                found |= {name: (node.lineno, ast.dump(value)) for name, value in _defaults(node)}
        return found

    def takes_default(self, owner: str, line: int) -> bool:
        """Whether the statement of a line reads an argument of the constructor that has a default."""
        classes = [node for node in ast.walk(self._tree) if isinstance(node, ast.ClassDef)]
        made = [n for c in classes if c.name == owner for n in c.body if isinstance(n, ast.FunctionDef)]
        for function in (one for one in made if one.name == "__init__"):
            names = {name for name, _value in _defaults(function)}
            here = (n for n in ast.walk(function) if isinstance(n, ast.Name) and self.of(n.lineno) == line)
            if any(name.id in names for name in here):
                return True
        return False

    def attribute(self, owner: str, name: str) -> int:
        """Return the line at which a class, or any where none is named, first gives itself an attribute; 0 for none."""
        for node in self._tree.body:
            if isinstance(node, ast.ClassDef) and node.name == (owner or node.name):
                for inner in ast.walk(node):
                    if isinstance(inner, (ast.Assign, ast.AnnAssign)):
                        targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                        named = (n for target in targets for n in ast.walk(target) if isinstance(n, ast.Attribute))
                        if any(n.attr == name for n in named):
                            return inner.lineno
        return 0

    def buffer(self, owner: str, name: str) -> int:
        """Return the line at which a class gives itself a buffer or a parameter by its name as a text; 0 for none."""
        for node in self._tree.body:
            if isinstance(node, ast.ClassDef) and node.name == owner:
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Call) and ast.unparse(inner.func).startswith("self.register_"):
                        named = inner.args[:1]
                        if named and isinstance(named[0], ast.Constant) and named[0].value == name:
                            return self.of(inner.lineno)
        return 0

    def fills(self) -> list[int]:
        """Return the lines at which functions put something into a list or a mapping that they were called with."""
        found: list[int] = []
        for function in ast.walk(self._tree):
            if isinstance(function, ast.FunctionDef):
                names = {arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)} - {"self"}
                found += [
                    node.lineno for node in ast.walk(function) if isinstance(node, ast.stmt) and _fills(node, names)
                ]
        return found

    def written(self, names: set[str], begin: int, end: int) -> list[int]:
        """Return the lines between two others at which something is put into what these names stand for."""
        inner = (node for node in ast.walk(self._tree) if isinstance(node, ast.stmt) and begin < node.lineno < end)
        return sorted(node.lineno for node in inner if _fills(node, names))

    def everywhere(self, name: str) -> list[int]:
        """Return the lines at which the file itself gives a name a value."""
        body = self._tree.body
        return [node.lineno for node in body if isinstance(node, (ast.Assign, ast.AnnAssign)) and _binds(node, name)]

    def given(self, attribute: str, line: int) -> list[tuple[int, str]]:
        """Return where the class that a line is in gives its object an attribute or changes it, and what it says."""
        found: list[tuple[int, str]] = []
        for node in self._tree.body:
            if isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0):
                simple = (
                    inner for inner in ast.walk(node) if isinstance(inner, ast.stmt) and not hasattr(inner, "body")
                )
                found += [(one.lineno, ast.unparse(one)) for one in simple if _gives(one, attribute)]
        return found

    def called(self, text: str) -> list[int]:
        """Return the lines of the statements in functions of the file that a text calls, not those of methods."""
        found: list[int] = []
        for node in self._tree.body:
            if isinstance(node, ast.FunctionDef) and f"{node.name}(" in text:
                inner = (one for one in ast.walk(node) if isinstance(one, ast.stmt) and one is not node)
                found += [one.lineno for one in inner if not isinstance(one, ast.Expr)]
        return found


@lru_cache(maxsize=8)
def statements_of(source: str) -> Statements:
    """Return the statements of a file, which somebody may have asked for just now."""
    return Statements(source)


def _defaults(node: ast.FunctionDef) -> list[tuple[str, ast.expr]]:
    """Return the arguments of a function that have a default, each with it."""
    args = [*node.args.posonlyargs, *node.args.args]
    given = zip(args[len(args) - len(node.args.defaults) :], node.args.defaults, strict=True)
    named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return [(arg.arg, value) for arg, value in (*given, *named) if value is not None]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _fills(node: ast.stmt, names: set[str]) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    texts = [ast.unparse(one.value) for one in targets if isinstance(one, ast.Subscript)]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        called = node.value.func
        texts += [ast.unparse(called.value)] if called.attr in FILLS else []
    return not names.isdisjoint(texts)


def _gives(node: ast.stmt, attribute: str) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        text = ast.unparse(node.value)
        return text.startswith((f"self.register_buffer('{attribute}'", f"self.{attribute}."))
    if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return False
    own = f"self.{attribute}"
    return any(
        text == own or text.startswith((f"{own}.", f"{own}["))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for text in map(ast.unparse, _each(target))
    )


def _binds(node: ast.Assign | ast.AnnAssign, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(ast.unparse(one) == name for target in targets for one in _each(target))


def _each(target: ast.expr) -> list[ast.expr]:
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    return [one for part in parts for one in _each(part)] or [target]
