"""What is told of an answer that is right on one way through a case and wrong on another: what it depends on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from grader.judge.cases.levels import UNRECORDED
from grader.judge.runs.outcome import CaseOutcome
from grader.language import marked

Told = tuple[str, str]
"""A title and a push."""

TOLD: Final[dict[str, Told]] = {
    "before": (
        marked("something is kept from an earlier call"),
        marked(
            "what follows from inputs or weights holds for one call: the next one may have others in the same tensors."
        ),
    ),
    "gradients": (
        marked("it depends on whether gradients are recorded"),
        marked("the numbers of a call are the same with and without a graph: which line asks?"),
    ),
    "layout": (
        marked("it depends on how the inputs lie in memory"),
        marked(
            "a transposed or sliced tensor holds the same numbers as a copy of it: which line takes more for granted?"
        ),
    ),
    "identity": (
        marked("it depends on whether two inputs are one object"),
        marked("two tensors with the same numbers give the same result, whatever they are called."),
    ),
    "mode": (
        marked("it depends on training or evaluation, without any dropout"),
        marked("only dropout knows the mode of the module: which line asks for it?"),
    ),
    "asks": (
        marked("it depends on who asks for a gradient"),
        marked("each input and each weight has its gradient, whether the others want one or not."),
    ),
    "caller": (
        marked("it depends on the caller's default dtype or device"),
        marked("which tensor is made with neither?"),
    ),
}
"""By factor; what comes first is told where a case needs levels of several."""


def depends_on_gradients(case: CaseOutcome) -> bool:
    """Whether a case that fails as it is written passes where gradients are recorded."""
    return case.needs == (("gradients", UNRECORDED),)


def by_factor(failing: list[CaseOutcome], left: list[CaseOutcome]) -> Iterator[tuple[str, list[CaseOutcome]]]:
    """Yield factors with the cases that are ``left`` and fail at their levels only, first one where that was seen.

    What fails with an error has a line of its own. Of cases that nobody has looked at those belong to a factor that are
    at a level of it while others that were looked at depend on it alone. Who writes into what is handed in finds it
    changed in the next call, and keeps nothing.
    """
    written = any(case.failure is not None and case.failure.kind == "modified" for case in failing)
    as_written = {case.case.stream for case in failing if case.family == case.case.family}
    plain = [case for case in left if case.failure is not None and case.failure.group != "error"]
    for factor in TOLD:
        if factor == "before" and written:
            continue
        seen = [case for case in plain if case.needs and next(f for f in TOLD if f in dict(case.needs)) == factor]
        if not seen:
            continue
        if any(map(depends_on_gradients, seen)):
            others = [case for case in plain if case not in seen and case.variant.recording == "no_grad"]
        else:
            levels = [case for case in plain if case.needs is None and factor in dict(case.variant.levels)]
            others = [case for case in levels if case.case.stream not in as_written]
        yield factor, [*seen, *others]
        plain = [case for case in plain if case not in seen and case not in others]
