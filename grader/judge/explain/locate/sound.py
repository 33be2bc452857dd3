"""Steps that the reference has nowhere, and that are right all the same: with them a right step was made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import torch

from grader.judge.explain.locate.match import Kind, many, plain
from grader.judge.explain.locate.traces import Step, Trace
from grader.judge.explain.locate.uses import kind_of

TELL: Final = frozenset(("mul", "add"))
"""Kinds of operations from whose result and one operand the other one follows, number by number."""


def sound_steps(answer: Trace, anchors: Mapping[int, tuple[Kind, int]]) -> set[int]:
    """Return the steps, other than the ``anchors``, of which a right one was made, number by number.

    Two of them may be wrong and come to the right result together; who multiplies by a wrong number and divides by it
    again makes no mistake.
    """
    found: set[int] = set()
    for number, (kind, _other) in anchors.items():
        step = answer.steps[number]
        if kind != "arranged" or step.writes >= 0 or kind_of(step.operation) not in TELL or not _tells(step):
            continue
        known = (answer.steps[read].value for read in step.reads)
        if all(value is None or _hides_nothing(value) for value in known):
            for read in step.reads:
                found |= _with_what_it_shows(answer, read, anchors)
    return found


def _tells(step: Step) -> bool:
    return step.value is not None and many(plain(step.value))


def _hides_nothing(value: torch.Tensor) -> bool:
    """Whether nothing is lost of what is multiplied by a tensor or added to it."""
    return bool(value.isfinite().all()) and bool((value != 0).all())


def _with_what_it_shows(answer: Trace, number: int, anchors: Mapping[int, tuple[Kind, int]]) -> set[int]:
    """Return a step and what it is a view of, as far as these are none of the ``anchors``."""
    found: set[int] = set()
    while not answer.steps[number].is_source and number not in anchors:
        found.add(number)
        step = answer.steps[number]
        if not step.is_view or len(step.reads) != 1:
            break
        number = step.reads[0]
    return found
