"""One grading: the answer, the reference beside it, and what the reference tells about the contract."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from typing import Any, Final

import torch

from grader.catalog import Kata
from grader.judge.translations import load
from grader.judge.workers.answer import Answer
from grader.judge.workers.backend import Tensors
from grader.judge.workers.keeper_client import WORKERS, KeeperClient
from grader.judge.workers.reference import Reference
from grader.judge.workers.standby import Standby
from grader.language import current
from grader.probes import simdevice

SEED_OF_CALLS: Final = 20170612
"""Every call starts from this state of torch's generator, in answer, reference and mistakes.

No value is graded through it.
"""


@dataclass(frozen=True, slots=True)
class Signature:
    """What the reference tells about an entry point."""

    name: str
    is_class: bool
    is_module: bool
    names: tuple[str, ...]
    returns: tuple[str, ...]


class Model:
    """The reference of a kata and what it tells about the contract; the same for every grading."""

    def __init__(self, kata: Kata) -> None:
        if "device" in kata.families:  # autograd settles at its first gradient which devices there are
            simdevice.make_known()
        self.kata = kata
        self.text = kata.reference()
        self.reference = Reference(self.text, str(kata.solution / "reference.py"))
        self.signatures = {name: signature(self.reference, self.text, name) for name in kata.entry}
        self.texts = load(kata, current())
        self._initial: dict[str, Tensors] = {}

    def method(self, owner: Signature, name: str) -> Signature:
        """Return what the reference tells about a method of a class; an attribute has no names."""
        member = getattr(self.reference.executor.namespace[owner.name], name, None)
        if not inspect.isfunction(member):
            return Signature(name, is_class=False, is_module=False, names=(), returns=())
        names = tuple(p for p in inspect.signature(member).parameters if p != "self")
        body = next(n for n in ast.parse(self.text).body if getattr(n, "name", "") == owner.name)
        methods = [n for n in ast.walk(body) if isinstance(n, ast.FunctionDef) and n.name == name]
        returns = _returned_names(methods[0]) if methods else ()
        return Signature(name, is_class=False, is_module=False, names=names, returns=returns)

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

    def drops(self, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a module of these arguments drops anything in training; one that is not known to keep all does."""
        try:
            given = inspect.signature(self.reference.executor.namespace[signature.name]).bind(*args, **kwargs)
        except TypeError:
            return True
        given.apply_defaults()
        return any("dropout" in name and value != 0 for name, value in given.arguments.items())


class Grading:
    """What outlives a case."""

    def __init__(
        self,
        kata: Kata,
        source: str,
        filename: str,
        seed: int,
        keeper: KeeperClient,
        model: Model | None = None,
        workers: tuple[str, ...] = WORKERS,
        standby: Standby | None = None,
    ) -> None:
        self.kata, self.seed = kata, seed
        self.answer = Answer(kata, source, filename, standby or Standby(keeper, kata.grading_seconds), workers)
        self.model = model or Model(kata)
        self.reference, self.reference_text = self.model.reference, self.model.text
        self.signatures, self.texts = self.model.signatures, self.model.texts
        self.method, self.initial_parameters = self.model.method, self.model.initial_parameters
        self.drops = self.model.drops


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
