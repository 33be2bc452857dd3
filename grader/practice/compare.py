"""Two answers compared by what they do: without comments, docstrings and annotations, names of one as in the other."""

import ast
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final, TypeGuard

SELF: Final = "self"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def comparable(answer: str, reference: str) -> tuple[str, str]:
    """Return both as plain code, the answer with the reference's names wherever the same thing has another name.

    Where one of them is no Python, both as they are.
    """
    try:
        mine, theirs = _plain(answer), _plain(reference)
    except (SyntaxError, ValueError, RecursionError):
        return answer, reference
    others = dict(_functions(theirs))
    votes: dict[str, Counter[tuple[str, str]]] = {}
    for name, function in _functions(mine):
        if name in others:
            found = _votes(function, others[name])
            names = _mapping(Counter({pair: n for pair, n in found.items() if not _is_attribute(pair)}), function)
            _Renamed(names).visit(function)
            owner = name.rpartition(".")[0]
            votes.setdefault(owner, Counter()).update({pair: n for pair, n in found.items() if _is_attribute(pair)})
    for node in ast.walk(mine):
        if isinstance(node, ast.ClassDef) and node.name in votes:
            _Renamed(_mapping(votes[node.name], node)).visit(node)
    return _text(mine), _text(theirs)


def _plain(source: str) -> ast.Module:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:]
            if not node.body and not isinstance(node, ast.Module):
                node.body = [ast.Pass()]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    _Assigned().visit(tree)
    return ast.fix_missing_locations(tree)


class _Assigned(ast.NodeTransformer):
    """Turns `x: Tensor = y` into `x = y`; fields of a class stay, for they mean something."""

    def __init__(self) -> None:
        self._in_class = False

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Look at what stands in a class."""
        before, self._in_class = self._in_class, True
        self.generic_visit(node)
        self._in_class = before
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Look at what stands in a function."""
        before, self._in_class = self._in_class, False
        self.generic_visit(node)
        self._in_class = before
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Drop the annotation."""
        if self._in_class or node.value is None:
            return node
        return ast.copy_location(ast.Assign([node.target], node.value), node)


def _functions(tree: ast.AST, above: str = "") -> Iterator[tuple[str, Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            name = f"{above}.{node.name}" if above else node.name
            if not isinstance(node, ast.ClassDef):
                yield name, node
            yield from _functions(node, name)


def _statements(function: Function) -> list[ast.AST]:
    """Return the statements of a function in order, of compound ones what stands before the colon."""
    found: list[ast.AST] = []
    for statement in function.body:
        found += _parts(statement)
    return found


def _parts(statement: ast.stmt) -> list[ast.AST]:
    bodies = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    if not any(bodies) or isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement]
    heads = [getattr(statement, name) for name in ("test", "target", "iter") if hasattr(statement, name)]
    heads += [item.context_expr for item in getattr(statement, "items", [])]
    return [*heads, *(part for body in bodies for one in body for part in _parts(one))]


def _votes(mine: Function, theirs: Function) -> Counter[tuple[str, str]]:
    """Count how often a name of mine stands where a name of theirs does."""
    votes: Counter[tuple[str, str]] = Counter()
    own, others = _own(mine), _own(theirs)
    for parameters in zip(_parameters(mine), _parameters(theirs), strict=False):
        votes[parameters] += 10
    left, right = _statements(mine), _statements(theirs)
    one_text, other_text = [_masked(node, own) for node in left], [_masked(node, others) for node in right]
    for kind, a, b, c, d in SequenceMatcher(None, one_text, other_text, autojunk=False).get_opcodes():
        if kind == "equal":
            for one, other in zip(left[a:b], right[c:d], strict=True):
                votes.update(zip(_names(one, own), _names(other, others), strict=False))
        elif kind == "replace":
            # Lines that differ stand for each other where they make something: the names of that may be the same thing.
            for one, other in zip_longest(left[a:b], right[c:d]):
                if one is not None and other is not None and (pair := _made(one, other, own, others)):
                    votes[pair] += 1
    return votes


def _made(one: ast.AST, other: ast.AST, own: set[str], others: set[str]) -> tuple[str, str] | None:
    if not (isinstance(one, ast.Assign) and isinstance(other, ast.Assign)):
        return None
    if SequenceMatcher(None, _masked(one.value, own), _masked(other.value, others)).ratio() < 0.6:  # noqa: PLR2004
        return None
    made = _names(one.targets[0], own), _names(other.targets[0], others)
    return (made[0][0], made[1][0]) if len(made[0]) == len(made[1]) == 1 else None


def _own(function: Function) -> set[str]:
    """Return the names that a function gives itself, attributes of its object among them."""
    given = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    attributes = {f"{SELF}.{node.attr}" for node in ast.walk(function) if _is_own_attribute(node)}
    return given | set(_parameters(function)) | attributes


def _parameters(function: Function) -> list[str]:
    arguments = function.args
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs) if one.arg != SELF]


def _is_own_attribute(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == SELF


def _is_attribute(pair: tuple[str, str]) -> bool:
    return pair[0].startswith(f"{SELF}.")


def _names(node: ast.AST, own: set[str]) -> list[str]:
    """Return the own names in a statement, in the order in which they stand there."""
    found = []
    for part in ast.walk(node):
        if _is_own_attribute(part):
            found.append(f"{SELF}.{part.attr}")
        elif isinstance(part, ast.Name) and part.id in own:
            found.append(part.id)
    return found


def _masked(node: ast.AST, own: set[str]) -> str:
    """Return a statement as text in which every own name is the same."""
    text = ast.unparse(node)
    copied = ast.parse(text) if isinstance(node, ast.stmt) else ast.parse(text, mode="eval")
    names = {name: "_" for name in own if not name.startswith(f"{SELF}.")}
    names |= {name: f"{SELF}._" for name in own if name.startswith(f"{SELF}.")}
    return ast.unparse(_Renamed(names).visit(copied))


def _mapping(votes: Counter[tuple[str, str]], scope: ast.AST) -> dict[str, str]:
    """Return which name becomes which: each once, none that would then stand for two things."""
    here = {node.id for node in ast.walk(scope) if isinstance(node, ast.Name)}
    here |= {f"{SELF}.{node.attr}" for node in ast.walk(scope) if isinstance(node, ast.Attribute)}
    found: dict[str, str] = {}
    for (mine, theirs), _count in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
        if (
            mine not in found
            and theirs not in found.values()
            and _is_attribute((theirs, "")) == _is_attribute((mine, ""))
        ):
            found[mine] = theirs
    while clashing := [one for one, other in found.items() if one != other and other in here and other not in found]:
        for one in clashing:
            del found[one]
    return {one: other for one, other in found.items() if one != other}


class _Renamed(ast.NodeTransformer):
    """Gives names to what had others."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Rename a variable."""
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Rename a parameter."""
        node.arg = self._names.get(node.arg, node.arg)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Rename an attribute of the object itself."""
        if _is_own_attribute(node):
            node.attr = self._names.get(f"{SELF}.{node.attr}", f"{SELF}.{node.attr}").removeprefix(f"{SELF}.")
        self.generic_visit(node)
        return node


def _text(tree: ast.Module) -> str:
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
