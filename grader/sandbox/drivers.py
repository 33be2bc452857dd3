"""Scenes that a function or class is put into where what it takes does not travel: parameters, a model, an optimiser.

A driver makes these of tensors, in answer and reference alike, and returns tensors, which are compared like any result.
It gets the answer's entry first. This file is written into the script for a debugger as it stands.
"""

import copy
from collections.abc import Callable
from typing import Any

import torch


def optimise(optimiser: Any, parameters: Any, gradients: Any, *settings: Any, **named: Any) -> Any:
    """Step an optimiser through gradients: the parameters after each step, and the last gradients as it leaves them.

    parameters  a list of tensors
    gradients   of each step: a tensor for each parameter, or None
    """
    own = _parameters(parameters)
    made = optimiser(own, *settings, **named)
    after = []
    for step in gradients:
        _step(made, own, step)
        after.append(_numbers(own))
    return (*after, [None if parameter.grad is None else parameter.grad.clone() for parameter in own])


def resume(optimiser: Any, parameters: Any, gradients: Any, at: int, **named: Any) -> Any:
    """Save an optimiser after some steps, load it into another one, go on with both: the parameters of either.

    The other one has default settings, and steps of its own behind it.
    """
    first = _parameters(parameters)
    saver = optimiser((parameter for parameter in first), **named)
    for step in gradients[:at]:
        _step(saver, first, step)
    saved = copy.deepcopy(saver.state_dict())  # as a file would keep it

    second = _parameters(parameters)
    loader = optimiser(parameter for parameter in second)
    _step(loader, second, gradients[-1])
    with torch.no_grad():
        for parameter, other in zip(second, first, strict=True):
            parameter.copy_(other)
    loader.load_state_dict(saved)
    for step in gradients[at:]:
        _step(saver, first, step)
        _step(loader, second, step)
    return _numbers(first), _numbers(second)


def clear(optimiser: Any, parameters: Any, gradients: Any, **named: Any) -> Any:
    """Step, clear the gradients, step again: what is left of the gradients in between, and the last parameters."""
    own = _parameters(parameters)
    made = optimiser((parameter for parameter in own), **named)
    _step(made, own, gradients[0])
    made.zero_grad()
    left = [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in own]
    for step in gradients[1:]:
        _step(made, own, step)
        made.zero_grad()
    return left, _numbers(own)


def _parameters(tensors: Any) -> Any:
    return [torch.nn.Parameter(tensor.detach().clone()) for tensor in tensors]


def _numbers(parameters: Any) -> Any:
    return [parameter.detach().clone() for parameter in parameters]


def _step(optimiser: Any, parameters: Any, gradients: Any) -> None:
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = None if gradient is None else gradient.detach().clone()
    with torch.enable_grad():
        optimiser.step()


def _results_of_optimise(parameters: Any, gradients: Any, *_settings: Any, **_named: Any) -> tuple[str, ...]:
    del parameters
    return (*(f"after_step_{number + 1}" for number in range(len(gradients))), "gradients")


RESULTS: dict[str, Callable[..., tuple[str, ...]]] = {
    "optimise": _results_of_optimise,
    "resume": lambda *_, **__: ("saved", "loaded"),
    "clear": lambda *_, **__: ("gradients", "parameters"),
}
"""What the results of a scene are called, by its arguments."""
DRIVERS: dict[str, Callable[..., Any]] = {"optimise": optimise, "resume": resume, "clear": clear}
