"""What a client asks a judge for, and which report it gets. Imports nothing of torch."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final

SCHEMA: Final = 2
"""Counts up when a field of the report, which docs/report.md describes, changes its meaning or goes away."""

DRAWING: Final = "drawing.py"
"""The file of a kata that says what `kata show --weights` draws, where there is something to draw."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to grade: the text of an answer, and the name under which its learner knows it."""

    kata: str
    source: str
    filename: str
    seed: int | None = None
    case: str = ""
    device: str = ""
    lang: str = "en"
    explained: bool = True
    """Whether anybody reads why it failed: looking for the reasons takes longer than the cases."""
    named: bool = True
    """Whether known mistakes are looked for; without them a place is, as it is where nobody knows the mistake."""


def is_real(device: str) -> bool:
    """Whether a device that was asked for is hardware: not the CPU, not the simulated one, and not left open."""
    return device not in ("", "cpu", "sim")


def fresh_seed() -> int:
    """Return a seed of the inputs that nobody can foresee."""
    return secrets.randbelow(2**31)
