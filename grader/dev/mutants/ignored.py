"""Second paths that people write: at one level of one factor an argument is ignored that hides what may not be seen.

A single query sees everything, so no mask is needed; nobody hides anything in float16; padding is only for training. A
second path of any other kind shows wherever a call is at its level, this one only where such a call hides something. So
what passes is a level that no case visits *with a mask*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from grader.dev.mutants.second_paths import Level
from grader.dev.mutants.survey import Parameter, Target

NOTHING_HIDDEN: Final = {
    "causal": "lambda given: False",
    "window": "lambda given: 1 << 30",
    "cu_seqlens": "lambda given: [given[0], given[-1]]",
}
"""What an argument is where it hides nothing, by its name."""
OPTIONAL: Final = ("mask", "lens")
"""In names of arguments that hide nothing where they are None."""
HIDES_NOTHING: Final = ("value of {}: None", "value of {}: False", "numbers of {}: all visible")
"""Levels at which there is nothing to ignore."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """An argument that is ignored at a level."""

    argument: str
    instead: str
    target: str
    level: Level

    @property
    def id(self) -> str:
        """What it is called in lists."""
        return f"{self.target.strip('.')} {self.argument} ignored, {self.level.factor}: {self.level.name}"

    @property
    def is_met(self) -> str:
        """The expression that tells whether a call ignores it."""
        return f"target == {self.target!r} and bool({self.level.when})"

    @property
    def given(self) -> str:
        """The expression of what is taken instead, by the argument's name."""
        return f"{{{self.argument!r}: {self.instead}}}"


def ignored(targets: Sequence[Target], levels: Sequence[Level]) -> Iterator[Ignored]:
    """Yield each argument that hides something, at each level that calls with it can be at."""
    for target in targets:
        if target.name.endswith("*"):
            continue
        for name, parameter in target.parameters.items():
            instead = _instead_of(name, parameter)
            yield from (
                Ignored(name, instead, target.name, level)
                for level in levels
                if instead and level.may_be_met_by(target.name) and not _hides_nothing(name, level)
            )


def with_something_hidden(one: Ignored) -> Level:
    """Return the level at which calls hide something as well: a case that is there shows best what is ignored."""
    hides = f"hides(g.get({one.argument!r}))"
    return Level(one.target, one.argument, one.id, f"target == {one.target!r} and {hides} and {one.level.when}")


def _instead_of(name: str, parameter: Parameter) -> str:
    """Return what stands in the place of an argument so that nothing is hidden; empty where it hides nothing."""
    if None in parameter.others and any(word in name for word in OPTIONAL):
        return "lambda given: None"
    return NOTHING_HIDDEN.get(name, "")


def _hides_nothing(name: str, level: Level) -> bool:
    return f"{level.factor}: {level.name}" in {said.format(name) for said in HIDES_NOTHING}
