"""The tensors among the arguments of a call, under names for a reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import torch

INPUTS_ALONE: Final = "inputs alone"
WEIGHTS_ALONE: Final = "weights alone"
ONE_ALONE: Final = "one alone"
"""Of whom a caller asks for gradients, where not of everything."""

_Tensor = torch.Tensor  # what an answer could patch, taken before it is loaded


def named_tensors(
    args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]
) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the distinct tensors among the arguments under the names that a reader knows them by."""
    seen: set[int] = set()
    for name, value in named(args, kwargs, names):
        if isinstance(value, _Tensor) and id(value) not in seen:
            seen.add(id(value))
            yield name, value


def named(args: tuple[Any, ...], kwargs: dict[str, Any], names: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the arguments, and what the lists and tuples among them hold, under names for a reader.

    ``q``, ``cache[0]``.
    """

    def walk(name: str, value: Any) -> Iterator[tuple[str, Any]]:
        yield name, value
        if isinstance(value, (tuple, list)):
            for index, item in enumerate(value):
                yield from walk(f"{name}[{index}]", item)

    for index, value in enumerate(args):
        yield from walk(names[index] if index < len(names) else f"argument {index + 1}", value)
    for name, value in kwargs.items():
        yield from walk(name, value)


def asked(level: str, number: int, inputs: list[str], *, weights: bool) -> tuple[list[str], bool]:
    """Return of which floating-point inputs a gradient is asked, and whether of the weights, where there are any.

    Where nothing would be left to ask, it is asked of everything. ``number`` says which one is alone.
    """
    if level == WEIGHTS_ALONE and weights:
        return [], True
    if level == INPUTS_ALONE and inputs:
        return inputs, False
    if level == ONE_ALONE and inputs:
        return [inputs[number % len(inputs)]], False
    return inputs, True
