"""The classes that one meets on the way of an answer through the tool, found by reading.

A class is on the road when a function on the road names it: calls it, derives from it or asks whether something is one.
The road begins where a warm `kata grade` enters each process (``ENTRANCES``), and goes on to every function of the
rooms that it passes (``ROOMS``) that is named by one on the road. A bare name means what its file means by it. A name
behind a dot is a method of any class that is on the road by then, that of ``self`` one of its own class and of those
above and below it. Where something is raised or caught the road goes on without it, and what stands in annotations only
is not counted. So it is an upper bound; a test traces a grading in all its processes and finds nothing beside it.

What one has to know of a pass is the vocabulary between files: a class whose name begins with an underscore is known
inside its own file alone (a test holds that), an exception is raised or caught, and what explains a failure
(``BEHIND_A_FAILURE``) is entered by no passing answer; that part is counted by itself.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOMS: Final = ("client", "transport", "server", "sandbox", "judge")
ENTRANCES: Final = {
    "client/session.py": ("Session", "grade"),
    "server/server.py": ("", "main"),
    "server/keeper.py": ("", "main"),
    "judge/service.py": ("", "main"),
    "sandbox/guest.py": ("", "main"),
}
"""By file the class and the function: each role of a process is entered through its `main`."""
BEHIND_A_FAILURE: Final = "judge/explain/"
EXCEPTIONS: Final = ("Exception", "BaseException")
ASIDE: Final = (ast.Raise, ast.ExceptHandler)
SELF: Final = ("self", "cls")


@dataclass(eq=False)
class _Class:
    """A class of the rooms."""

    name: str
    file: str
    node: ast.ClassDef
    methods: dict[str, ast.FunctionDef] = field(default_factory=dict)


@dataclass(eq=False)
class _File:
    """A file of the rooms: what its names mean."""

    path: str
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    classes: dict[str, _Class] = field(default_factory=dict)
    values: dict[str, ast.expr] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By its name in here the module of something and its name there; no name for a module itself."""


def classes_on_the_road(
    package: Path, entrances: Mapping[str, tuple[str, str]] = ENTRANCES
) -> tuple[list[str], list[str]]:
    """Return the classes to know of a pass, and those of what explains a failure, each with its file."""
    files = {path.relative_to(package).as_posix(): path for room in ROOMS for path in (package / room).rglob("*.py")}
    read = {name: _read(name, ast.parse(path.read_text(encoding="utf-8"))) for name, path in sorted(files.items())}
    passing, all_of_them = (_Road(package.name, read, past_failures=past).walked(entrances) for past in (False, True))
    return sorted(passing), sorted(name for name in all_of_them - passing if name.startswith(BEHIND_A_FAILURE))


def _read(path: str, tree: ast.Module) -> _File:
    file = _File(path)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            file.functions[node.name] = node
        elif isinstance(node, ast.ClassDef):
            methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
            file.classes[node.name] = _Class(node.name, path, node, methods)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                file.values |= {part.id: node.value for part in parts if isinstance(part, ast.Name)}
    for one in ast.walk(tree):
        if isinstance(one, ast.ImportFrom) and one.module:
            file.imported |= {alias.asname or alias.name: (one.module, alias.name) for alias in one.names}
    return file


class _Road:
    """One walk, from the entrances to where nothing new is named."""

    def __init__(self, package: str, files: dict[str, _File], *, past_failures: bool) -> None:
        self._package, self._files, self._past_failures = package, files, past_failures
        self._met: dict[_Class, None] = {}
        self._behind_a_dot: set[str] = set()
        self._seen: set[int] = set()
        self._todo: list[tuple[_File, _Class | None, ast.AST]] = []
        self._by_method: dict[str, list[_Class]] = defaultdict(list)

    def walked(self, entrances: Mapping[str, tuple[str, str]]) -> set[str]:
        """Return the public classes that are met, each with its file, exceptions aside."""
        for path, (owner, name) in entrances.items():
            file = self._files[path]
            if owner:
                self._meet(file.classes[owner])
                self._go(file, file.classes[owner], file.classes[owner].methods[name])
            else:
                self._go(file, None, file.functions[name])
        while self._todo:
            self._look(*self._todo.pop())
        return {f"{one.file}: {one.name}" for one in self._met if not (one.name.startswith("_") or self._is_error(one))}

    def _go(self, file: _File, owner: _Class | None, node: ast.AST) -> None:
        if id(node) not in self._seen and (self._past_failures or not file.path.startswith(BEHIND_A_FAILURE)):
            self._seen.add(id(node))
            self._todo.append((file, owner, node))

    def _look(self, file: _File, owner: _Class | None, node: ast.AST) -> None:
        for one in _running(node):
            if isinstance(one, ast.Name):
                self._named(file, one.id)
            elif isinstance(one, ast.Attribute):
                of = one.value
                if isinstance(of, ast.Name) and (module := self._module(file, of.id)) is not None:
                    self._named(module, one.attr)
                elif isinstance(of, ast.Name) and of.id in SELF and owner is not None:
                    self._own(owner, one.attr)
                else:
                    self._dotted(one.attr)

    def _named(self, file: _File, name: str) -> None:
        """Follow a bare name, or the name of a module: to a function, a class, or a value that names some."""
        if name in file.functions:
            self._go(file, None, file.functions[name])
        elif name in file.classes:
            self._meet(file.classes[name])
        elif name in file.values:
            self._go(file, None, file.values[name])
        elif name in file.imported:
            module, there = file.imported[name]
            found = self._file(module)
            if found is not None:
                self._named(found, there)

    def _meet(self, one: _Class) -> None:
        if one in self._met or (not self._past_failures and one.file.startswith(BEHIND_A_FAILURE)):
            return
        self._met[one] = None
        file = self._files[one.file]
        for base in one.node.bases:
            self._go(file, one, base)
        for item in one.node.body:
            if not isinstance(item, ast.FunctionDef) or item.name.startswith(("__", "pytest_")):
                self._go(file, one, item)
        for name, method in one.methods.items():
            self._by_method[name].append(one)
            if name in self._behind_a_dot:
                self._go(file, one, method)

    def _dotted(self, name: str) -> None:
        if name not in self._behind_a_dot:
            self._behind_a_dot.add(name)
            for one in self._by_method[name]:
                self._go(self._files[one.file], one, one.methods[name])

    def _own(self, owner: _Class, name: str) -> None:
        """Follow a method of ``self``: of its class, of those above, and of those below that are on the road."""
        family = [*self._above(owner), *(other for other in self._met if owner in self._above(other))]
        for one in family:
            if name in one.methods:
                self._go(self._files[one.file], one, one.methods[name])

    def _above(self, one: _Class) -> Iterator[_Class]:
        yield one
        file = self._files[one.file]
        for base in one.node.bases:
            if isinstance(base, ast.Name) and (found := self._class(file, base.id)) is not None:
                yield from self._above(found)

    def _is_error(self, one: _Class) -> bool:
        return any(ast.unparse(base) in EXCEPTIONS for above in self._above(one) for base in above.node.bases)

    def _class(self, file: _File, name: str) -> _Class | None:
        if name in file.classes:
            return file.classes[name]
        module, there = file.imported.get(name, ("", ""))
        found = self._file(module)
        return self._class(found, there) if found is not None else None

    def _module(self, file: _File, name: str) -> _File | None:
        """Return the file that a name in another one means, where it is imported as a whole."""
        module, there = file.imported.get(name, ("", ""))
        return self._file(f"{module}.{there}") if there else None

    def _file(self, module: str) -> _File | None:
        path = module.removeprefix(f"{self._package}.").replace(".", "/")
        return self._files.get(f"{path}.py") or self._files.get(f"{path}/__init__.py")


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of what runs where nothing goes wrong, annotations aside."""
    todo: list[ast.AST] = [node]
    while todo:
        one = todo.pop()
        yield one
        annotations = {id(getattr(one, name, None)) for name in ("annotation", "returns")}
        children = (child for child in ast.iter_child_nodes(one) if not isinstance(child, ASIDE))
        todo += [child for child in children if id(child) not in annotations]
