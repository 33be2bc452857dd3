"""A case: one function of a kata's ``cases.py``, and the variants in which it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from grader.catalog import FAMILIES
from grader.judge.cases.check import Check
from grader.judge.cases.rng import Numbers
from grader.judge.cases.variant import Variant, as_derived
from grader.sandbox.observe import SIMULATED
from grader.transport.memory import BEHIND, OWN

CORE: Final = "core"
DERIVED_FROM: Final = (CORE, "mask")
DTYPES: Final = {"float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True, slots=True)
class Case:
    """One function of a kata's ``cases.py``, with the values of its own parameters."""

    name: str
    parameters: str
    about: str
    family: str
    position: int
    function: Callable[[Check, Numbers], None] = field(repr=False)
    derives: tuple[str, ...] | None = None
    """The families that it is derived into, None for all that the kata has."""
    title: str = ""
    """What a learner reads in place of its name, in another language than English."""
    trains: bool = False
    """Whether it trains a module, which takes seconds: it waits until all others have passed."""
    precise: bool = False
    """Whether it runs in float64: where results are decisions, rounding could turn one over."""
    large: bool = False
    """Whether neither mistakes are tried on it nor places looked for: that could fill the memory, or take too long."""

    @property
    def stream(self) -> str:
        """The name under which its inputs are drawn: the same for each variant."""
        return f"{self.name}({self.parameters})"


def traits_of(marks: Iterable[Any]) -> dict[str, Any]:
    """Return what pytest's marks say of a case, as arguments of ``Case``."""
    marks = list(marks)
    names = [mark.name for mark in marks]
    into = [mark.args for mark in marks if mark.name == "derive"]
    return {
        "family": next((name for name in names if name in FAMILIES), CORE),
        "derives": tuple(family for families in into for family in families) if into else None,
        "trains": "trains" in names,
        "precise": "precise" in names,
        "large": "large" in names,
    }


def variants_of(case: Case, families: tuple[str, ...]) -> list[Variant]:
    """Return the variants of a case: its own, and those derived from it for the families of the kata."""
    family, chosen = case.family, case.derives
    plain = Variant(family, recording="no_grad", layout=BEHIND) if family in DERIVED_FROM else Variant(family)
    on_device = Variant("device", device=SIMULATED)
    own = {
        "grad": Variant("grad", dtype=torch.float64, grad=True),
        "device": on_device,
        "contract": Variant("contract", trace=True),
        "cost": Variant("cost", cost=True),
    }.get(family, plain)
    if case.precise:
        own, on_device = (dataclasses.replace(variant, dtype=torch.float64) for variant in (own, on_device))
    variants = [own]
    if family not in DERIVED_FROM:
        return variants
    derived = [name for name in families if name not in DERIVED_FROM and (chosen is None or name in chosen)]
    if "dtype" in derived:
        variants += [Variant("dtype", label, dtype) for label, dtype in DTYPES.items()]
    if "grad" in derived:
        # A case that names the family, and not all that shows there, has something to show in its gradients.
        for_them = chosen is not None and "contract" not in chosen
        variants.append(Variant("grad", dtype=torch.float64, grad=True, of_everything=for_them))
    if "device" in derived:
        variants.append(on_device)
    if "contract" in derived:
        variants = [own, *map(as_derived, variants[1:])]
        variants.append(Variant("contract", dtype=own.dtype, trace=True, compares_values=False))
    return variants


def on_hardware(variants: list[Variant], device: str) -> list[Variant]:
    """Return the variants that run on the simulated device once more, on a real one of this name.

    Inputs lie there as one expects, since kernels may ask for it: a recurrent layer takes no state that is a slice.
    """
    levels = [tuple(level for level in variant.levels if level[0] != "layout") for variant in variants]
    return [
        dataclasses.replace(variant, label=device, device=device, layout=OWN, levels=own)
        for variant, own in zip(variants, levels, strict=True)
        if variant.device == SIMULATED
    ]
