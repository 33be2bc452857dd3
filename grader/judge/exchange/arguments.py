"""The arguments of a call: the answer's side, the reference's, what follows from them, how a reader writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader.judge.exchange.results import Exchange, Result
from grader.language import _
from grader.sandbox.arguments import asked, named_tensors
from grader.transport.callables import Step
from grader.transport.wire import DeviceName, tensors_in


def got(value: Any) -> Any:
    """Return the answer's side of an argument."""
    return _side(value, "got")


def want(value: Any) -> Any:
    """Return the reference's side of an argument; where the answer gets a device, the reference gets the CPU."""
    return _side(value, "want")


def _side(value: Any, side: str) -> Any:
    if isinstance(value, Result):
        return getattr(value, side)
    if isinstance(value, DeviceName):
        return DeviceName("cpu") if side == "want" else value
    if isinstance(value, (tuple, list)):
        return type(value)(_side(item, side) for item in value)
    if isinstance(value, dict):
        return {key: _side(item, side) for key, item in value.items()}
    return value


def handed_back(args: Any, kwargs: Any, names: list[str]) -> set[str]:
    """Return the names of the tensors that an earlier call returned: they have no part in a gradient."""

    def returned(value: Any) -> Any:
        if isinstance(value, Result):
            return value.want
        if isinstance(value, (tuple, list)):
            return tuple(map(returned, value))
        return None

    values = {name: returned(value) for name, value in kwargs.items()}
    return {name for name, _tensor in named_tensors(tuple(map(returned, args)), values, names)}


def expected_gradients(exchange: Exchange) -> dict[str, torch.Tensor | None]:
    """Return the reference's gradients, less those of what an earlier call returned, or that were not asked for."""
    args, kwargs, names = exchange.trees["args"], exchange.trees["kwargs"], exchange.header["names"]
    back, (level, number) = handed_back(args, kwargs, names), exchange.header.get("asks", ("", 0))
    given = {name: grad for name, grad in exchange.want_grads.items() if name not in back}
    if not level:
        return given
    inputs = {name for name, _tensor in named_tensors(want(args), want(kwargs), names)}
    floating = [name for name in given if name in inputs]
    chosen, weights = asked(level, number, floating, weights=bool(given.keys() - inputs))
    return {name: grad for name, grad in given.items() if (name in chosen if name in inputs else weights)}


def cast(tree: Any, *dtypes: torch.dtype, copy: bool = False) -> Any:
    """Cast the float tensors of a tree through these dtypes, or copy them; the same tensor stays one object."""

    def through(tensor: torch.Tensor) -> torch.Tensor:
        result = tensor
        for dtype in dtypes if tensor.is_floating_point() else ():
            result = _to(result, dtype)
        return result.clone() if copy and result is tensor else result

    return changed(tree, through, lambda step: step.through(*dtypes))


def changed(
    tree: Any, change: Callable[[torch.Tensor], torch.Tensor], change_step: Callable[[Step], Step] = lambda step: step
) -> Any:
    """Return a tree with other tensors in it, and other models of a step; the same tensor stays one object."""
    done: dict[int, torch.Tensor] = {}

    def walk(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in done:
                done[id(value)] = change(value)
            return done[id(value)]
        if isinstance(value, (tuple, list)):
            return type(value)(map(walk, value))
        if isinstance(value, dict):
            return {key: walk(item) for key, item in value.items()}
        return change_step(value) if isinstance(value, Step) else value

    return walk(tree)


def _to(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Cast a tensor; an expanded one, which torch would lay out anew, stays one."""
    if 0 not in tensor.stride() or not tensor.numel():
        return tensor.to(dtype)
    base = tensor
    for axis, stride in enumerate(tensor.stride()):
        base = base.narrow(axis, 0, 1) if stride == 0 else base
    return base.to(dtype).expand(tensor.shape)


def lives_on_a_device(value: Any) -> bool:
    """Whether there is a tensor or a device among the arguments: else a result may be anywhere."""
    if isinstance(value, Result):
        return True
    if isinstance(value, dict):
        return any(map(lives_on_a_device, value.values()))
    if isinstance(value, (tuple, list)):
        return any(map(lives_on_a_device, value))
    return isinstance(value, (torch.Tensor, DeviceName))


def device_of_results(exchange: Exchange, device: str) -> str:
    """Return the device on which the results must be; "" where nothing that was handed over says so."""
    on_device = exchange.header["handle"] is not None or any(map(lives_on_a_device, exchange.trees.values()))
    on_device = on_device or is_left_to_default(exchange)
    return device if on_device and device != "cpu" else ""


def is_left_to_default(exchange: Exchange) -> bool:
    """Whether the call says `device=None`, by name: the default device then is the variant's."""
    return exchange.trees["kwargs"].get("device", "") is None


def described(args: tuple[Any, ...], kwargs: dict[str, Any], names: tuple[str, ...]) -> str:
    """Write arguments as a reader would: tensors by name and shape, everything else as it is."""
    parts = [_described(names[index] if index < len(names) else "", value) for index, value in enumerate(args)]
    parts += [_described(name, value) for name, value in kwargs.items()]
    return ", ".join(parts)


def _described(name: str, value: Any) -> str:
    if isinstance(value, Result):
        if not value.settled:
            return _("{name} as returned").format(name=name).strip()
        value = value.got
    if isinstance(value, torch.Tensor):
        kind = {torch.bool: " bool", torch.int64: " int64"}.get(value.dtype, "")
        return f"{name} {tuple(value.shape)}{kind}".strip()
    if isinstance(value, (tuple, list)) and any(True for _tensor in tensors_in(value)):
        return f"{name} ({', '.join(_described('', item) for item in value)})".strip()
    return f"{name}={value!r}" if name else repr(value)


def size(arguments: Any) -> int:
    """Return how many numbers the tensors of the arguments hold."""
    return sum(tensor.numel() for tensor in tensors_in(arguments)) if arguments is not None else 0
