"""What the cases of a kata call, and with what: asked of its reference, in this process."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from grader.catalog import Kata
from grader.dev.rehearsal import SEED, rehearse_with
from grader.transport.wire import tensors_in

CONSTRUCTOR: Final = "__init__"
WATCHED: Final = ("scores", "logits")
"""Variables of a reference whose numbers are looked at."""

RECORDING: Final = {"torch.no_grad()", "torch.inference_mode()"}
"""Decorators that leave a method as it is called."""

MOST_AXES: Final = 4
"""Of more, the last ones: what is in front of them is all the same to every kata."""

Names = tuple[tuple[str, ...], str]
Entries = dict[str, dict[str, Names]]
Sizes = dict[str, int]
"""How large an axis is, or what number was given: by the expression of it."""

_noted: list[tuple[str, dict[str, Any]]] = []
_met: set[tuple[str, int]] = set()
_case: list[str] = []


@dataclass
class Parameter:
    """What an argument was, over all calls."""

    floats: int = 0
    """How many axes a floating-point tensor had at most; 0 where there was none."""
    integers: int = 0
    bools: int = 0
    ranks: set[int] = field(default_factory=set)
    numbers: set[int | float] = field(default_factory=set)
    others: set[Any] = field(default_factory=set)
    """None, True, False and texts that were given."""
    is_one: bool = True
    """Whether it was never more than one tensor, in a list or a tuple."""


@dataclass
class Target:
    """A function or method that cases call."""

    name: str
    is_module: bool = False
    parameters: dict[str, Parameter] = field(default_factory=dict)
    calls: list[Sizes] = field(default_factory=list)
    """Those of lengths and numbers that the call itself got, and of numbers that its object was built with."""


def entries_of(source: str, names: Collection[str]) -> Entries:
    """Return the functions and public methods that an answer is asked for, with the names of their arguments."""
    found: Entries = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name in names:
            found[node.name] = {"": _arguments(node)}
        elif isinstance(node, ast.ClassDef) and node.name in names:
            methods = [method for method in node.body if isinstance(method, ast.FunctionDef)]
            found[node.name] = {
                method.name: _arguments(method)
                for method in methods
                if (method.name == CONSTRUCTOR or not method.name.startswith("_")) and _takes_itself(method)
            }
    return found


def _takes_itself(method: ast.FunctionDef) -> bool:
    """Whether it is called with its object: no property, and nothing of the class alone."""
    return {ast.unparse(decorator) for decorator in method.decorator_list} <= RECORDING


def modules_of(source: str, names: Collection[str]) -> set[str]:
    """Return the entries that are modules."""
    return {
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and node.name in names and any("Module" in ast.unparse(b) for b in node.bases)
    }


def _arguments(node: ast.FunctionDef) -> Names:
    every = node.args
    return tuple(a.arg for a in (*every.posonlyargs, *every.args)), every.vararg.arg if every.vararg else ""


def watched(source: str) -> str:
    """Return an answer that shows what it assigns to variables that are looked at."""
    lines = source.splitlines()
    places = [
        (node.end_lineno or node.lineno, node.col_offset, node.targets[0].id)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in WATCHED
    ]
    for line, indent, name in sorted(places, reverse=True):
        if indent:
            lines.insert(line, f"{' ' * indent}_look({name})")
    return "\n".join(lines) + "\n"


def note(target: str, given: dict[str, Any], *levels: Callable[[], bool]) -> bool:
    """Take the arguments of a call, or of these levels those that it is at; called by what is surveyed."""
    if levels:
        _met.update((_case[-1], number) for number, holds in enumerate(levels) if holds())
    else:
        _noted.append((target, {name: _described(value) for name, value in given.items()}))
    return False


def _described(value: Any) -> Any:
    """Return what is to be known of an argument: numbers and texts themselves, of tensors type and shape."""
    tensors = [(tensor.dtype, tuple(tensor.shape)) for tensor in tensors_in([value])]
    if tensors:
        return tensors if isinstance(value, torch.Tensor) else [*tensors, None]
    return value if value is None or isinstance(value, (bool, int, float, str)) else ...


def surveyed(kata: Kata, source: str) -> list[Target]:
    """Run the cases with a source that notes its calls; return what was called.

    What an object was built with stands once, under ``Entry.*``: all of its methods can ask for it. A text that another
    grading does not have is drawn, and no answer can wait for it.
    """
    targets = _noted_of(kata, source, SEED)
    if any(isinstance(one, str) for target in targets for p in target.parameters.values() for one in p.others):
        again = {target.name: target.parameters for target in _noted_of(kata, source, SEED + 1)}
        for target in targets:
            for name, parameter in target.parameters.items():
                met = again[target.name][name].others
                parameter.others = {one for one in parameter.others if one in met or not isinstance(one, str)}
    return targets


def _noted_of(kata: Kata, source: str, seed: int) -> list[Target]:
    _run(kata, source, seed)
    entries, modules = entries_of(source, kata.entry), modules_of(source, kata.entry)
    targets: dict[str, Target] = {}
    for name, given in _noted:
        entry, _dot, method = name.partition(".")
        names, rest = entries[entry][method]
        own = {key: value for key, value in given.items() if key in (*names, rest)}
        built = {key: value for key, value in given.items() if key not in own}
        target = targets.setdefault(name, Target(name, is_module=entry in modules))
        target.calls.append(dict(_sizes(own)) | {key: n for key, n in _sizes(built) if "heads" in key})
        _take_all(target, own)
        if built:
            target = targets.setdefault(f"{entry}.*", Target(f"{entry}.*"))
            target.calls.append(dict(_sizes(built)))
            _take_all(target, built)
    return list(targets.values())


def _take_all(target: Target, given: dict[str, Any]) -> None:
    for key, value in given.items():
        _take(target.parameters.setdefault(key, Parameter()), value)


def visits(kata: Kata, source: str) -> dict[int, str]:
    """Run the cases with a source that notes levels; return a case for each level that one is at, by its number."""
    _run(kata, source)
    return {number: case for case, number in sorted(_met, reverse=True)}


def _run(kata: Kata, source: str, seed: int = SEED) -> None:
    _noted.clear()
    _met.clear()
    for problem in rehearse_with(kata, source, nullcontext(), lambda one: _case.append(one.id), seed):
        raise AssertionError(problem)


def _sizes(given: dict[str, Any]) -> Iterator[tuple[str, int]]:
    for name, value in given.items():
        if isinstance(value, int) and not isinstance(value, bool):
            yield f"g.get({name!r})", value
        elif isinstance(value, list) and len(value) == 1 and value[0][0] != torch.bool:
            shape = value[0][1][-MOST_AXES:]
            yield from ((f"size(g.get({name!r}), {axis - len(shape)})", length) for axis, length in enumerate(shape))


def _take(parameter: Parameter, value: Any) -> None:
    if isinstance(value, list):
        parameter.is_one = parameter.is_one and None not in value
        for dtype, shape in filter(None, value):
            parameter.ranks.add(len(shape))
            kind = "floats" if dtype.is_floating_point else "bools" if dtype == torch.bool else "integers"
            setattr(parameter, kind, max(getattr(parameter, kind), len(shape), 1))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        parameter.numbers.add(value)
    elif value is not ...:
        parameter.others.add(value)
