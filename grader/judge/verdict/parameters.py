"""The parameters of a module: those that a constructor made, and those that came back from a training."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import torch

from grader.judge.failure import Failure, unreadable
from grader.language import _


def missing_parameters(reply: dict[str, Any], state: dict[str, torch.Tensor]) -> Failure | None:
    """Compare the parameters of the answer's module with the contract's.

    Names, shapes, and no bias that nobody asked for.
    """
    try:
        own = {name: tuple(map(_whole, shape)) for name, shape in reply["parameters"] if type(name) is str}
    except (KeyError, TypeError, ValueError):
        return unreadable("a malformed list of parameters")
    for name, value in state.items():
        if name not in own:
            layer = name.partition(".")[0]
            has = ", ".join(sorted({n.partition(".")[0] for n in own})) or _("none at all")
            if inside := [n for n in own if n.partition(".")[0] == layer]:
                has = ", ".join(sorted(inside))
                sentence = _("your module has no parameter {name}; its own are: {has}").format(name=name, has=has)
            else:
                sentence = _("your module has no layer {name}; its own are: {has}").format(name=layer, has=has)
            return Failure("parameters", sentence)
        if own[name] != tuple(value.shape):
            sentence = _("{label} has shape {shape}, expected {expected}")
            shapes = {"shape": own[name], "expected": tuple(value.shape)}
            return Failure("parameters", sentence.format(label=name, **shapes))
    extra = beside(state, own)
    return (
        Failure(
            "parameters",
            _("your module has a parameter {name} that the contract does not have here").format(name=extra[0]),
        )
        if extra
        else None
    )


def beside(names: Collection[str], own: Iterable[str]) -> list[str]:
    """Return what a module has besides these parameters in their layers; layers besides are its own affair."""
    layers = {name.rpartition(".")[0] for name in names if "." in name}
    return [name for name in own if name not in names and name.rpartition(".")[0] in layers]


def not_learned(learned: Any, state: dict[str, torch.Tensor], dtype: torch.dtype) -> Failure | None:
    """Check the parameters that came back from a training: those of the contract, and numbers."""
    if type(learned) is not dict:
        return unreadable("a malformed list of parameters")
    for name, value in state.items():
        found = learned.get(name)
        if not isinstance(found, torch.Tensor) or found.shape != value.shape or found.dtype != dtype:
            return unreadable("a malformed list of parameters")
        if not bool(torch.isfinite(found).all()):
            return Failure("nan", _("after the training {name} is not finite").format(name=name))
    return None


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value
