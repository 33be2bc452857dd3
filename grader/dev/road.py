"""The classes that one meets on the way of an answer through the tool, found by reading.

A class is on the road when a function on the road names it: calls it, derives from it or asks whether something is one.
The road begins where a warm `kata grade` enters each process (``ENTRANCES``), and goes on to every function of the
rooms that it passes (``ROOMS``) that is named by one on the road. Where something is raised or caught the road goes on
without it, and what stands in annotations only is not counted. Methods are followed by their names alone, so that the
number is an upper bound: a trace of one grading finds fewer.

What one has to know of a pass is the vocabulary between files: a class whose name begins with an underscore is known
inside its own file alone, an exception is raised or caught, and what explains a failure (``BEHIND_A_FAILURE``) is
entered by no passing answer; that part is counted by itself.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import Final

ROOMS: Final = ("client", "transport", "server", "sandbox", "judge")
ENTRANCES: Final = {
    "client/session.py": ("grade",),
    "server/server.py": ("run",),
    "judge/service.py": ("serve",),
    "sandbox/guest.py": ("serve",),
}
BEHIND_A_FAILURE: Final = "judge/explain/"
EXCEPTIONS: Final = {"Exception", "BaseException"}
Function = ast.FunctionDef
ASIDE: Final = (ast.Raise, ast.ExceptHandler)


def classes_on_the_road(package: Path) -> tuple[list[str], list[str]]:
    """Return the classes to know of a pass, and those of what explains a failure, each with its file."""
    files = [path for room in ROOMS for path in sorted((package / room).rglob("*.py"))]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    classes: dict[str, list[tuple[Path, ast.ClassDef]]] = defaultdict(list)
    functions: dict[str, list[Function]] = defaultdict(list)
    todo: list[ast.AST] = []
    for path, tree in trees.items():
        first = ENTRANCES.get(path.relative_to(package).as_posix(), ())
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append((path, node))
            elif isinstance(node, ast.FunctionDef):
                functions[node.name].append(node)
                if node.name in first:
                    todo.append(node)
    met: dict[str, None] = {}
    while todo:
        for name in sorted(_named(todo.pop())):
            todo += functions.pop(name, [])
            for path, node in classes.pop(name, []):
                if not (name.startswith("_") or EXCEPTIONS & {ast.unparse(base) for base in node.bases}):
                    met[f"{path.relative_to(package).as_posix()}: {name}"] = None
                todo += _made(node)
    explaining = sorted(name for name in met if name.startswith(BEHIND_A_FAILURE))
    return sorted(met.keys() - set(explaining)), explaining


def _made(node: ast.ClassDef) -> list[ast.AST]:
    """Return what runs when a class is made or used without a name: its bases and its special methods."""
    special = [item for item in node.body if isinstance(item, Function) and item.name.startswith("__")]
    return [*node.bases, *special]


def _named(node: ast.AST) -> set[str]:
    """Return the names in what runs where nothing goes wrong, annotations aside."""
    found: set[str] = set()
    todo: list[ast.AST] = [node]
    while todo:
        one = todo.pop()
        if isinstance(one, ast.Name):
            found.add(one.id)
        elif isinstance(one, ast.Attribute):
            found.add(one.attr)
        annotations = {id(getattr(one, name, None)) for name in ("annotation", "returns")}
        children = (child for child in ast.iter_child_nodes(one) if not isinstance(child, ASIDE))
        todo += [child for child in children if id(child) not in annotations]
    return found
