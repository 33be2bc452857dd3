"""The two ways in which a `Check` lives: a case runs through it, or it is put together from what a case asked for.

Whoever needs one takes it from here.
"""

from __future__ import annotations

from typing import Any

from grader.judge.cases.check import Check
from grader.judge.cases.rng import Numbers
from grader.judge.cases.variant import KnownResults, Variant
from grader.judge.contract import Grading
from grader.judge.runs.outcome import CaseOutcome, Run
from grader.judge.runs.recording import Recording


def live(
    outcome: CaseOutcome,
    grading: Grading,
    backend: Any,
    *,
    number: int = 0,
    known: KnownResults | None = None,
    variant: Variant | None = None,
    judges: bool = True,
    draw: int = 0,
) -> Check:
    """Return a check for the function of a case to run through, with weights of its own seed.

    ``variant`` is another one than the outcome's, where it was read off a run of that one. Where it
    ``judges`` not, what comes back is kept and not held against anything. ``draw``: of the weights, the first is 0.
    """
    weights = Numbers(grading.seed, _drawn(f"weights of {outcome.case.stream}", draw))
    return Check(grading, variant or outcome.variant, weights, backend, number, known, judges=judges)


def play(outcome: CaseOutcome, grading: Grading, check: Check, draw: int = 0) -> None:
    """Run the function of a case through its check, on inputs of this ``draw``; what it raises comes through."""
    outcome.case.function(check, Numbers(grading.seed, _drawn(outcome.case.stream, draw)))


def _drawn(stream: str, draw: int) -> str:
    return f"{stream}, draw {draw}" if draw else stream


def assembled(run: Run, grading: Grading, backend: Any, recording: Recording) -> Check:
    """Return the check of a straight run whose operations were sent: what is left to do is to judge."""
    check = live(run.outcome, grading, backend, number=run.number, known=recording)
    check.exchanges = recording.asked_with(run.operations)
    check.agreements = recording.agreements
    check.handles = [exchange.header["handle"] for exchange in check.exchanges if exchange.header["op"] == "build"]
    return check


def again(
    outcome: CaseOutcome, grading: Grading, backend: Any, *, judges: bool = False, number: int = 0, draw: int = 0
) -> Check:
    """Run a case once more, with something else as the answer or on another draw; what it raises comes through.

    Returns the check it ran through; the modules that the reference built for it are gone.
    """
    variant = outcome.check.variant if outcome.check is not None else None
    check = live(outcome, grading, backend, number=number, variant=variant, judges=judges, draw=draw)
    try:
        play(outcome, grading, check, draw)
        check.settle()
    finally:
        grading.reference.release(check.handles)
    return check
