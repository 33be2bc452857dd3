"""The functions and classes of a kata as its cases call them: in answer and reference at once."""

from __future__ import annotations

import inspect
from typing import Any, Final, Protocol

import torch

from grader.judge.cases.rng import Numbers
from grader.judge.cases.scenes import RESULTS
from grader.judge.cases.variant import Variant
from grader.judge.contract import SEED_OF_CALLS, Grading, Signature
from grader.judge.exchange.arguments import described
from grader.judge.exchange.results import Result
from grader.judge.verdict.parameters import not_learned
from grader.language import _
from grader.sandbox.drivers import DRIVERS
from grader.transport.wire import Tree

TRAINING_SECONDS: Final = 110.0
"""So long may a training take: it is one operation, and a call's time would not do."""


class Asker(Protocol):
    """What entries need of a check."""

    grading: Grading
    variant: Variant
    numbers: Numbers
    unbuilt: list[Module]

    @property
    def expects_an_error(self) -> bool:
        """Whether the next call must raise."""

    def new_handle(self) -> int:
        """Number a module."""

    def ask(
        self, header: dict[str, Any], trees: dict[str, Tree], call: str, names: tuple[str, ...], *, compared: bool
    ) -> Result:
        """Ask the answer for one operation."""


class Entry:
    """A function or class of the kata."""

    def __init__(self, check: Asker, signature: Signature) -> None:
        self._check, self._signature = check, signature

    def __call__(self, *args: Any, **kwargs: Any) -> Result | Module:
        """Call the function, or build the module with the reference's fresh weights."""
        if self._signature.is_class:
            return Module(self._check, self._signature, args, kwargs)
        return self._call(args, kwargs, compared=True)

    def run(self, *args: Any, **kwargs: Any) -> Result:
        """Call the function without comparing values."""
        return self._call(args, kwargs, compared=False)

    def driven(self, driver: str, *args: Any, **kwargs: Any) -> Result:
        """Put it into a scene that does not travel, compared: see :mod:`grader.sandbox.drivers`."""
        names = tuple(inspect.signature(DRIVERS[driver]).parameters)[1:]
        header = _header(names, entry=self._signature.name, grad=self._check.variant.grad) | {"driver": driver}
        text = f"{driver}({self._signature.name}, {described(args, kwargs, names)})"
        returns = RESULTS[driver](*args, **kwargs)
        return self._check.ask(header, {"args": args, "kwargs": kwargs}, text, returns, compared=True)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, compared: bool) -> Result:
        signature = self._signature
        header = _header(signature.names, entry=signature.name, grad=self._check.variant.grad)
        text = f"{signature.name}({described(args, kwargs, signature.names)})"
        return self._check.ask(header, {"args": args, "kwargs": kwargs}, text, signature.returns, compared=compared)


class Module:
    """A module that was built in answer and reference with the same weights."""

    def __init__(self, check: Asker, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._check, self._signature, self._arguments = check, signature, (args, kwargs)
        self._handle, self._training = check.new_handle(), False
        levels = dict(check.variant.levels)
        self._always_trains = levels.get("mode") == "train" and not check.grading.drops(signature, args, kwargs)
        self._text = f"{signature.name}({described(args, kwargs, ())})"
        initial = check.grading.initial_parameters(signature, args, kwargs)
        self._state = {name: check.numbers.weights_like(value) for name, value in initial.items()}
        self._built = self._was_built = False
        check.unbuilt.append(self)
        if check.expects_an_error:
            self.build()

    def __call__(self, *args: Any, **kwargs: Any) -> Result:
        """Call it, compared."""
        return self._call("", args, kwargs, compared=True)

    def run(self, *args: Any, **kwargs: Any) -> Result:
        """Call it without comparing values."""
        return self._call("", args, kwargs, compared=False)

    def method(self, name: str, *args: Any, **kwargs: Any) -> Result:
        """Call another method, or read an attribute, compared."""
        return self._call(name, args, kwargs, compared=True)

    def do(self, name: str, *args: Any, **kwargs: Any) -> Result:
        """Call a method of both for what it does to them; what it returns is nobody's business."""
        return self._call(name, args, kwargs, compared=False)

    def unroll(
        self,
        start: str,
        given: tuple[Any, ...],
        inputs: list[Any],
        *,
        branches: bool = False,
        meanwhile: tuple[Any, ...] = (),
    ) -> Result:
        """Call method ``start`` for a state, then the module with each of the inputs and the state so far, compared.

        A call returns a result and the next state. Only the results come back: what a state is made of is up to the
        answer. With ``branches`` each input meets the first state. ``meanwhile``: what another state is made of before
        the first one is used.
        """
        self.build()
        called = self._check.grading.method(self._signature, start)
        each = self._signature.names[0]
        others = (f"{name}_meanwhile" for name in called.names[: len(meanwhile)])
        numbered = (f"{each}_{number}" for number, _ in enumerate(inputs, 1))
        names = (*called.names[: len(given)], *others, *numbered)
        header = _header(names, handle=self._handle, train=self._trains, grad=self._check.variant.grad)
        header["unroll"] = [start, len(given), int(branches), len(meanwhile)]
        another = f"{start}({described(meanwhile, {}, called.names)}), " if meanwhile else ""
        then = f"then {described(tuple(inputs), {}, ())}"
        text = f"{self._text}: {start}({described(given, {}, called.names)}), {another}{then}"
        returns = tuple(f"{self._signature.returns[0]}[{number}]" for number, _ in enumerate(inputs))
        return self._check.ask(
            header, {"args": (*given, *meanwhile, *inputs), "kwargs": {}}, text, returns, compared=True
        )

    @property
    def _trains(self) -> bool:
        """Whether it is in training mode: at a level, wherever that makes no difference to the reference."""
        return self._training or self._always_trains

    def train(self) -> Module:
        """Switch both to training mode."""
        self._training = True
        return self

    def eval(self) -> Module:
        """Switch both to evaluation mode."""
        self._training = False
        return self

    def set(self, **parameters: torch.Tensor) -> Module:
        """Overwrite parameters in both; ``__`` stands for a dot."""
        self._state = self._state | {name.replace("__", "."): value for name, value in parameters.items()}
        if self._built:
            self._built = False
            self._check.unbuilt.append(self)
        return self

    def as_built(self) -> Module:
        """Begin with the parameters that the reference's constructor makes, the same in each grading."""
        self._state = dict(self._check.grading.initial_parameters(self._signature, *self._arguments))
        return self

    def learn(self, method: str, data: tuple[torch.Tensor, ...], order: torch.Tensor, rates: torch.Tensor) -> Module:
        """Train the answer's module with Adam; returns a module that has what it learned in answer and reference.

        ``method`` is the loss, called with the rows of each of the ``data``; ``order`` (steps, B) says which in each
        step, ``rates`` (steps,) how far it goes.
        """
        self.build()
        header = _header((), handle=self._handle, method=method, train=True, grad=False)
        header |= {"op": "train", "seconds": TRAINING_SECONDS}
        text = _("{module}: trained on {method} for {steps} steps")
        text = text.format(module=self._text, method=method, steps=len(order))
        trees = {"args": data, "kwargs": {}, "order": order, "rates": rates}
        learned = self._check.ask(header, trees, text, (), compared=False)
        failure = not_learned(learned.got, self._state, self._check.variant.dtype)
        if failure is not None:
            raise failure
        args, kwargs = self._arguments
        module = Module(self._check, self._signature, args, kwargs)
        module._state = {name: learned.got[name] for name in self._state}
        return module

    def fresh(self) -> Module:
        """Leave the answer's parameters as its constructor makes them; for calls that are not compared."""
        self._state = {}
        return self

    def build(self) -> None:
        """Build it now, unless it is built."""
        if self._built:
            return
        self._built = True
        if self in self._check.unbuilt:
            self._check.unbuilt.remove(self)
        args, kwargs = self._arguments
        header = {
            **{"op": "build", "entry": self._signature.name, "handle": self._handle, "train": self._trains},
            **{"wants_module": self._signature.is_module, "seed": SEED_OF_CALLS, "again": self._was_built},
        }
        self._was_built = True
        self._check.ask(header, {"args": args, "kwargs": kwargs, "state": self._state}, self._text, (), compared=True)

    def _call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], *, compared: bool) -> Result:
        self.build()
        called = self._check.grading.method(self._signature, method) if method else self._signature
        header = _header(
            called.names, handle=self._handle, method=method, train=self._trains, grad=self._check.variant.grad
        )
        header["stateful"] = not self._signature.is_module
        text = f"{self._text}{'.' + method if method else ''}"
        if called.is_called or args or kwargs:
            text += f"({described(args, kwargs, called.names)})"
        return self._check.ask(header, {"args": args, "kwargs": kwargs}, text, called.returns, compared=compared)


def _header(
    names: tuple[str, ...],
    *,
    grad: bool,
    entry: str = "",
    handle: int | None = None,
    method: str = "",
    train: bool = False,
) -> dict[str, Any]:
    return {
        **{"op": "call", "entry": entry, "handle": handle, "method": method, "train": train, "grad": grad},
        **{"names": list(names), "seed": SEED_OF_CALLS},
    }
