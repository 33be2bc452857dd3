"""A grading that is prepared before there is an answer: what will be asked, and what a passing answer replies.

Inputs and the reference's results do not depend on the answer, so they can be made while the learner is still typing.
Each case is run against the reference in the place of the answer; what it asks for is kept as ready messages. A case
that looks at results while it runs is run again when they are in; for any other the expectations decide.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.judge.cases.case import Case, on_hardware, variants_of
from grader.judge.cases.levels import drawn
from grader.judge.contract import Grading
from grader.judge.exchange.results import Exchange
from grader.judge.runs.batches import asked_by, parted, together
from grader.judge.runs.coverage import DETAILS, MAGNITUDE, chosen
from grader.judge.runs.outcome import Run, planned
from grader.judge.runs.recorder import record
from grader.judge.runs.recording import Recording
from grader.judge.workers.answer import worker_of
from grader.judge.workers.backend import loaded
from grader.transport.operations import Several
from grader.transport.request import is_real


class Plan:
    """All runs of a kata's cases with the inputs of one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.runs: list[Recording] = []
        self.ahead: dict[str, list[Several]] = {}
        """What a grading asks for first, by worker."""

    def steps(self, grading: Grading, cases: list[Case]) -> Iterator[None]:
        """Prepare run after run; the caller may stop in between."""
        stand_in = loaded(grading.reference_text, "reference.py")
        runs = runs_of(cases, grading.kata.families, grading.seed, without=grading.kata.without)
        for run in runs:
            self.runs.append(record(run, grading, stand_in))
            yield
        self._choose(runs)
        for worker, group in together(parted(runs, self.runs)[0], _worker_of):
            self.ahead.setdefault(worker, []).append(asked_by(group))
            yield

    def _choose(self, runs: list[Run]) -> None:
        """Among the derived runs of a variant, let some come first: the others repeat what they show."""
        variants: dict[tuple[str, str], dict[int, list[Exchange]]] = {}
        for index, (run, recording) in enumerate(zip(runs, self.runs, strict=True)):
            if recording.is_known and not recording.is_special and not run.is_main:
                variants.setdefault(run.variant, {})[index] = recording.exchanges
        for variant, members in variants.items():
            found = chosen(members, DETAILS.get(variant, MAGNITUDE))
            for index in members.keys() - found:
                self.runs[index].repeats = frozenset(number + 1 for number in found)


def _worker_of(run: Run) -> str:
    return worker_of(run.outcome.family, run.number)


def runs_of(
    cases: list[Case], families: tuple[str, ...], seed: int, device: str = "", without: tuple[str, ...] = ()
) -> list[Run]:
    """Return the runs that give all outcomes of these cases, numbered, at the levels that a seed draws.

    ``without`` those that the kata leaves out. What runs on the simulated device also runs on a real ``device``.
    """
    variants = drawn((variants_of(case, families) for case in cases), seed, without)
    if is_real(device):
        variants = ([*own, *on_hardware(own, device)] for own in variants)
    runs = [run for case, own in zip(cases, variants, strict=True) for run in planned(case, own)]
    for number, run in enumerate(runs, 1):
        run.number = number
    return runs
