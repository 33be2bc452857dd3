"""The statements of a learner's file: which lines belong together, and where something is made."""

from __future__ import annotations

import ast


class Statements:
    """Which line a statement of a file begins with."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._first: dict[int, int] = {}
        self._tree: ast.Module | None = None
        try:
            self._tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node in ast.walk(self._tree):
            if isinstance(node, ast.stmt) and not hasattr(node, "body") and node.end_lineno:
                self._first.update(dict.fromkeys(range(node.lineno, node.end_lineno + 1), node.lineno))

    def of(self, line: int) -> int:
        """Return the first line of the statement that a line is in."""
        return self._first.get(line, line)

    def function(self, owner: str, name: str) -> int:
        """Return the line at which a function begins, or a method of a class; 0 where there is none."""
        body = self._tree.body if self._tree is not None else []
        for node in body:
            if isinstance(node, ast.ClassDef) and node.name == owner:
                found = [n.lineno for n in node.body if isinstance(n, ast.FunctionDef) and n.name == name]
                return found[-1] if found else 0
            if not name and isinstance(node, ast.FunctionDef) and node.name == owner:
                return node.lineno
        return 0

    def arguments(self, owner: str, name: str) -> list[str]:
        """Return what the arguments of a function are called, or of a method of a class."""
        line = self.function(owner, name)
        for node in ast.walk(self._tree or ast.Module([], [])):
            if isinstance(node, ast.FunctionDef) and node.lineno == line:
                args = node.args
                return [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
        return []

    def takes_default(self, owner: str, line: int) -> bool:
        """Whether the statement of a line reads an argument of the constructor that has a default."""
        classes = [node for node in ast.walk(self._tree or ast.Module([], [])) if isinstance(node, ast.ClassDef)]
        made = [n for c in classes if c.name == owner for n in c.body if isinstance(n, ast.FunctionDef)]
        for function in made:
            if function.name != "__init__":
                continue
            args = function.args
            names = [arg.arg for arg in args.args[len(args.args) - len(args.defaults) :]] if args.defaults else []
            names += [
                a.arg for a, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default is not None
            ]
            here = [n for n in ast.walk(function) if isinstance(n, ast.Name) and self.of(n.lineno) == line]
            if any(name.id in names for name in here):
                return True
        return False

    def attribute(self, owner: str, name: str) -> int:
        """Return the line at which a class first gives itself an attribute; 0 where it does not by its name."""
        body = self._tree.body if self._tree is not None else []
        for node in body:
            if isinstance(node, ast.ClassDef) and node.name == owner:
                for inner in ast.walk(node):
                    if isinstance(inner, (ast.Assign, ast.AnnAssign)):
                        targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                        named = (n for target in targets for n in ast.walk(target) if isinstance(n, ast.Attribute))
                        if any(n.attr == name for n in named):
                            return inner.lineno
        return 0
