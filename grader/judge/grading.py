"""One grading: the answer, the reference beside it, and what the reference tells about the contract."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from typing import Any, Final

import torch

from grader.catalog import Kata
from grader.judge.lanes import Answer, Reference, Tensors
from grader.sandbox.keeper_line import KeeperLine

SEED_OF_CALLS: Final = 20170612
"""Every call starts from this state of torch's generator, in answer, reference and mistakes.

No value is graded through it.
"""
SANDBOXES_AHEAD: Final = 2


@dataclass(frozen=True, slots=True)
class Signature:
    """What the reference tells about an entry point."""

    name: str
    is_class: bool
    is_module: bool
    names: tuple[str, ...]
    returns: tuple[str, ...]


class Grading:
    """What outlives a case."""

    def __init__(self, kata: Kata, source: str, filename: str, seed: int, keeper: KeeperLine) -> None:
        self.kata, self.seed = kata, seed
        self.answer = Answer(kata, source, filename, keeper)
        self.answer.prepare(SANDBOXES_AHEAD)
        self.reference_text = kata.reference()
        self.reference = Reference(self.reference_text, str(kata.solution / "reference.py"))
        self._initial: dict[str, Tensors] = {}
        self._handles = 0
        self.signatures = {name: signature(self.reference, self.reference_text, name) for name in kata.entry}

    def next_handle(self) -> int:
        """Number the modules of the grading."""
        self._handles += 1
        return self._handles

    def initial_parameters(self, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensors:
        """Return the parameters of a freshly built reference module, always the same.

        Nothing where it refuses to be built.
        """
        if not signature.is_module:
            return {}
        key = f"{signature.name}{args}{kwargs}"
        if key not in self._initial:
            torch.default_generator.manual_seed(SEED_OF_CALLS)
            try:
                model = self.reference.executor.namespace[signature.name](*args, **kwargs)
            except Exception:  # noqa: BLE001 - the exchange that follows tells whether it was expected
                return {}
            self._initial[key] = {name: parameter.detach() for name, parameter in model.named_parameters()}
        return self._initial[key]


def signature(reference: Reference, text: str, name: str) -> Signature:
    """Read off the reference what an entry is called with and what it returns."""
    entry = reference.executor.namespace[name]
    is_class = inspect.isclass(entry)
    is_module = is_class and issubclass(entry, torch.nn.Module)
    called = entry.forward if is_module else entry
    parameters = [p for p in inspect.signature(called).parameters if p != "self"]
    node = next(n for n in ast.parse(text).body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == name)
    if isinstance(node, ast.ClassDef):
        methods = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "forward"]
        return Signature(name, is_class, is_module, tuple(parameters), _returned_names(methods[0]) if methods else ())
    return Signature(name, is_class, is_module, tuple(parameters), _returned_names(node))


def _returned_names(function: ast.FunctionDef) -> tuple[str, ...]:
    """Return the names of what a function returns as a tuple, from its last line."""
    returned = [n.value for n in ast.walk(function) if isinstance(n, ast.Return)]
    if returned and isinstance(returned[-1], ast.Tuple):
        return tuple(item.id if isinstance(item, ast.Name) else "" for item in returned[-1].elts)
    return ()
