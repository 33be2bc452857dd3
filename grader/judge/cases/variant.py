"""In which way a case runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Protocol

import torch

from grader.transport.wire import Tree


@dataclass(frozen=True, slots=True)
class Variant:
    """In which way a case runs: its family and what the family asks for."""

    family: str
    label: str = ""
    dtype: torch.dtype = torch.float32
    grad: bool = False
    device: str = "cpu"
    trace: bool = False
    cost: bool = False
    compares_values: bool = True
    derived: bool = False

    @property
    def watches_inputs(self) -> bool:
        """Whether it looks for changed inputs: what is derived leaves that to the traced run of the same case."""
        return self.trace or not self.derived


TRACED: Final = 3
"""One in so many runs of a derived variant is traced: that costs as much again as half of a call."""


def traced(variant: Variant, bounds: dict[str, Any], number: int) -> dict[str, Any] | None:
    """Return what must not be called, where a run is traced: of other variants than the contract's one in three.

    Which ones depends on the seed that is in the ``number``, so that no answer can know.
    """
    if variant.trace:
        return bounds
    return bounds | {"frames": False} if number % TRACED == 0 else None


@cache
def as_derived(variant: Variant) -> Variant:
    """Return the same variant of a case that also runs traced."""
    return replace(variant, derived=True)


@cache
def as_traced(variant: Variant) -> Variant:
    """Return the same variant, traced."""
    return replace(variant, trace=True)


class KnownResults(Protocol):
    """Another run of the same case, from which the reference's results are known."""

    @property
    def variant_dtype(self) -> torch.dtype:
        """The dtype of its variant."""

    def wanted(self, index: int, carries: list[bool] | None) -> tuple[Tree, dict[str, Any]] | None:
        """Return result and gradients for the call of that index; None where they are not known."""
