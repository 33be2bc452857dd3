"""One grading: the answer, the reference beside it, and what the reference does and tells about the contract."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import torch

from grader.catalog import Kata
from grader.judge.translations import Translations, load
from grader.judge.workers.answer import Answer
from grader.judge.workers.backend import Header, Tensors, loaded
from grader.language import current
from grader.probes import simdevice

SEED_OF_CALLS: Final = 20170612
"""Every call starts from this state of torch's generator, in answer, reference and mistakes.

No value is graded through it.
"""

REFERENCE: Final = {"dtype": "float64", "device": "cpu", "trace": None, "cost": False, "through": None}
"""How the reference runs, whatever the answer's variant is."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What the reference tells about an entry point."""

    name: str
    is_class: bool
    is_module: bool
    names: tuple[str, ...]
    returns: tuple[str, ...]
    is_called: bool = True
    """Or it is an attribute, and read."""


class Reference:
    """The model answer of a kata, called directly, and what it tells about the contract; the same for every grading.

    Building a module takes longer than calling it, so modules of a make are used again.
    """

    def __init__(self, kata: Kata, text: str = "") -> None:
        """``text``: another one in the place of the model answer."""
        if "device" in kata.families:  # autograd settles at its first gradient which devices there are
            simdevice.make_known()
        self.kata = kata
        self.text = text or kata.reference()
        self.executor = loaded(self.text, "beside the answer" if text else str(kata.solution / "reference.py"))
        self._initial: dict[str, Tensors] = {}
        self._idle: dict[str, list[torch.nn.Module]] = {}
        self._makes: dict[int, str] = {}

    @cached_property
    def signatures(self) -> dict[str, Signature]:
        """What it tells about its entries, by name."""
        return {name: signature(self.executor.namespace[name], self.text, name) for name in self.kata.entry}

    @cached_property
    def texts(self) -> Translations:
        """What a learner reads of the cases."""
        return load(self.kata, current())

    # --- what it does

    def build(self, header: Header, args: Any, kwargs: Any, state: Any) -> None:
        """Build a module, or take one of the same make that is idle; exceptions of its constructor come through.

        ``draw`` in the header: one that was made with other roundings is another make.
        """
        make = f"{header['entry']}{args}{kwargs}{header.get('draw', '')}"
        handle = header["handle"]
        idle = self._idle.get(make)
        if idle and header["wants_module"]:
            self.executor.adopt(handle, idle.pop(), state)
        else:
            self.executor.build_from(header | REFERENCE, args, kwargs, state)
        self._makes[handle] = make

    def has(self, handle: int) -> bool:
        """Whether the module of this number was built."""
        return handle in self._makes

    def call(self, header: Header, args: Any, kwargs: Any, through: list[bool] | None) -> tuple[Any, Tensors]:
        """Call it; returns what it returned, and its gradients by name."""
        return self.executor.trusted_call(header | REFERENCE | {"through": through}, args, kwargs)

    def release(self, handles: list[int]) -> None:
        """Take back the modules of a case that is over."""
        for handle in handles:
            make, module = self._makes.pop(handle, ""), self.executor.module(handle)
            if make and module is not None:
                self._idle.setdefault(make, []).append(module)
        self.executor.forget(handles)

    # --- what it tells

    def method(self, owner: Signature, name: str) -> Signature:
        """Return what the reference tells about a method of a class; an attribute has no names."""
        member = getattr(self.executor.namespace[owner.name], name, None)
        if not inspect.isfunction(member):
            return Signature(name, is_class=False, is_module=False, names=(), returns=(), is_called=callable(member))
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
                model = self.executor.namespace[signature.name](*args, **kwargs)
            except Exception:  # noqa: BLE001 - the exchange that follows tells whether it was expected
                return {}
            self._initial[key] = {name: parameter.detach() for name, parameter in model.named_parameters()}
        return self._initial[key]

    def drops(self, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a module of these arguments drops anything in training; one that is not known to keep all does."""
        try:
            given = inspect.signature(self.executor.namespace[signature.name]).bind(*args, **kwargs)
        except TypeError:
            return True
        given.apply_defaults()
        return any("dropout" in name and value != 0 for name, value in given.arguments.items())


class Grading:
    """What outlives a case: the answer, the reference beside it, and the seed of all inputs."""

    def __init__(self, reference: Reference, seed: int, answer: Answer | None = None) -> None:
        """Without an answer nothing is asked of any: the cases run on something else, or are prepared."""
        self.kata, self.seed = reference.kata, seed
        self.answer = answer if answer is not None else Answer(self.kata, "", "", None, ())
        self.reference = reference
        self.signatures, self.texts = reference.signatures, reference.texts
        self.method, self.initial_parameters = reference.method, reference.initial_parameters
        self.drops = reference.drops

    @property
    def reference_text(self) -> str:
        """The text of the reference."""
        return self.reference.text


def signature(entry: Any, text: str, name: str) -> Signature:
    """Read off the reference what an entry is called with and what it returns."""
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
