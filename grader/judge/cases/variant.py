"""In which way a case runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

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
    recording: str = ""
    """Whether graph and gradients are out of the question: "", "no_grad" or "inference_mode"."""
    compares_values: bool = True
    derived: bool = False

    @property
    def watches_inputs(self) -> bool:
        """Whether it looks for changed inputs: what is derived leaves that to the traced run of the same case."""
        return self.trace or not self.derived


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
