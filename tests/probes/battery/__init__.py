"""Snippets for two devices: honest code that must not notice the difference, and wrong code that must.

A snippet is a function of tensors. It runs on the CPU and on another device; `agreement.py` compares.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

Shape = tuple[int, ...]
Function = TypeVar("Function", bound="Callable[..., object]")
# how a wrong snippet shows: an exception, a result elsewhere, a copy to the host, a remark, or not at all
Verdict = Literal["raises", "elsewhere", "copies", "remark", "unseen"]

B, H, N, D = 2, 4, 6, 8
WIDTH = H * D
HEADS: Shape = (B, H, N, D)
ROWS: Shape = (B, N, WIDTH)


@dataclass(frozen=True)
class Snippet:
    """A function, the shapes of its arguments, and what is expected of it."""

    name: str
    group: str
    function: Callable[..., object]
    shapes: tuple[Shape, ...]
    grad: bool = True
    shows: Verdict = "unseen"
    tolerance: float = 1e-5
    """How far a real device's values may be from the CPU's; infinite where they are drawn there."""

    def inputs(self) -> list[torch.Tensor]:
        """Return the same random arguments each time."""
        generator = torch.Generator().manual_seed(len(self.shapes))
        made = [torch.randn(*shape, generator=generator) for shape in self.shapes]
        return [tensor.requires_grad_(self.grad) for tensor in made]


LEGIT: dict[str, Snippet] = {}
WRONG: dict[str, Snippet] = {}


def legit(*shapes: Shape, grad: bool = True, tolerance: float = 1e-5) -> Callable[[Function], Function]:
    """Register honest code."""

    def register(function: Function) -> Function:
        group = function.__module__.rpartition(".")[2]
        LEGIT[function.__name__] = Snippet(function.__name__, group, function, shapes, grad, tolerance=tolerance)
        return function

    return register


def operators(group: str, shape: Shape, table: dict[str, Callable[..., object]], *, grad: bool = True) -> None:
    """Register a table of expressions in one tensor."""
    for name, function in table.items():
        LEGIT[f"{group}: {name}"] = Snippet(f"{group}: {name}", group, function, (shape,), grad)


def wrong(shows: Verdict, *shapes: Shape) -> Callable[[Function], Function]:
    """Register code with a device bug and say how it must show."""

    def register(function: Function) -> Function:
        WRONG[function.__name__] = Snippet(function.__name__, "bugs", function, shapes, grad=False, shows=shows)
        return function

    return register


for module in ("attention", "positions", "caches", "layers", "expressions", "bugs"):  # facts register the device
    importlib.import_module(f"{__name__}.{module}")
