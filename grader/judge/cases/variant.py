"""In which way a case runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Protocol

import torch

from grader.judge.tolerance import Moves
from grader.transport.memory import OWN
from grader.transport.wire import Tree, dtype_name

TRACED: Final = 3
"""One in so many runs of a derived variant is traced: that costs as much again as half of a call."""

LevelSet = tuple[tuple[str, str], ...]
"""Factors, each with a level other than the plain one."""


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
    recording: str = ""
    """Whether graph and gradients are out of the question: "", "no_grad" or "inference_mode"."""
    compares_values: bool = True
    derived: bool = False
    of_everything: bool = False
    """Whether gradients are asked of all inputs and weights, at whatever levels."""
    layout: str = OWN
    """How the arguments lie in memory."""
    levels: LevelSet = ()
    """How else a caller may go about it."""

    @property
    def watches_inputs(self) -> bool:
        """Whether each run looks for changed inputs: of what is derived one in three does."""
        return self.trace or not self.derived

    def header(self, bounds: dict[str, Any], number: int) -> dict[str, Any]:
        """Return what an operation says of the way in which it runs; ``number``: of its run, with the seed in it."""
        return {
            "dtype": dtype_name(self.dtype),
            "device": self.device,
            "trace": self._traced(bounds, number),
            "inputs": self.watches_inputs or number % TRACED == 1,
            "cost": self.cost,
            "recording": self.recording,
            "layout": self.layout,
            "levels": dict(self.levels),
        }

    def _traced(self, bounds: dict[str, Any], number: int) -> dict[str, Any] | None:
        """Return what must not be called, where a run is traced: of other variants than the contract's one in three.

        Which ones depends on the seed, so that no answer can know.
        """
        if self.trace:
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


Wanted = tuple[Tree, dict[str, Any], Moves | None]
"""What the reference returned, its gradients by name, and how far both move by rounding, where that was measured."""


class KnownResults(Protocol):
    """Another run of the same case, from which the reference's results are known."""

    @property
    def variant_dtype(self) -> torch.dtype:
        """The dtype of its variant."""

    def wanted(self, index: int, carries: list[bool] | None) -> Wanted | None:
        """Return these for the call of that index; None where they are not known."""
