"""A case and its variants: what runs, what came of it, and running it again."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from grader.judge.check import Check, Variant
from grader.judge.failure import Failure, Outcome
from grader.judge.grading import Grading
from grader.judge.lanes import Lane
from grader.judge.numbers import Numbers
from grader.judge.observed import contract_failure
from grader.sandbox.host import Lost, Ticket
from grader.sandbox.observe import SIMULATED

CORE: Final = "core"
DERIVED_FROM: Final = (CORE, "mask")
HALVES: Final = {"float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}
RUNS_AHEAD: Final = 12
MOST_RESTARTS: Final = 20
ANSWERED: Final = ("value", "built")


def variants_of(
    family: str, chosen: tuple[str, ...] | None, families: tuple[str, ...], device: str = SIMULATED
) -> list[Variant]:
    """Return the variants of a case: its own, and those derived from it.

    ``chosen`` are the marked families, None for all.
    """
    on_device = Variant("device", "" if device == SIMULATED else device, device=device)
    own = {
        "grad": Variant("grad", dtype=torch.float64, grad=True),
        "device": on_device,
        "contract": Variant("contract", trace=True),
        "cost": Variant("cost", cost=True),
    }.get(family, Variant(family))
    variants = [own]
    if family not in DERIVED_FROM:
        return variants
    derived = [name for name in families if name not in DERIVED_FROM and (chosen is None or name in chosen)]
    if "dtype" in derived:
        variants += [Variant("dtype", label, dtype) for label, dtype in HALVES.items()]
    if "grad" in derived:
        variants.append(Variant("grad", dtype=torch.float64, grad=True))
    if "device" in derived:
        variants.append(on_device)
    if "contract" in derived:
        variants.append(Variant("contract", trace=True, compares_values=False))
    return variants


@dataclass(frozen=True, slots=True)
class Case:
    """One function of a kata's ``cases.py``, with the values of its own parameters."""

    name: str
    parameters: str
    about: str
    family: str
    position: int
    function: Callable[[Check, Numbers], None] = field(repr=False)

    @property
    def stream(self) -> str:
        """The name under which its inputs are drawn: the same for each variant."""
        return f"{self.name}({self.parameters})"


@dataclass(eq=False)
class CaseOutcome:
    """What happened in one variant of a case."""

    case: Case
    variant: Variant
    outcome: Outcome = "passed"
    failure: Failure | None = None
    reason: str = ""
    check: Check | None = field(default=None, repr=False)
    aside: bool = False
    """Whether it was read off the run of another variant, which shows what was printed and how long it took."""

    @property
    def id(self) -> str:
        """``mask/three_dimensional_mask_is_per_batch``, ``dtype/…[float16]``."""
        own = f"({self.case.parameters})" if self.case.parameters else ""
        label = f"[{self.variant.label}]" if self.variant.label else ""
        return f"{self.variant.family}/{self.case.name.removeprefix('test_')}{own}{label}"

    @property
    def family(self) -> str:
        """The family that the outcome counts in."""
        return self.variant.family

    @property
    def title(self) -> str:
        """What a learner reads in the list."""
        own = f" ({self.case.parameters})" if self.case.parameters else ""
        label = f" [{self.variant.label}]" if self.variant.label else ""
        return self.case.name.removeprefix("test_").replace("_", " ") + own + label

    def fail(self, failure: Failure | None) -> None:
        """Note a failure, if there is one."""
        if failure is not None:
            self.failure, self.outcome = failure, failure.outcome

    def _tickets(self) -> list[Ticket]:
        exchanges = self.check.exchanges if self.check and not self.aside else []
        return [exchange.asked for exchange in exchanges if isinstance(exchange.asked, Ticket)]

    @property
    def printed(self) -> str:
        """What the answer printed during the case."""
        return "".join(ticket.printed for ticket in self._tickets())

    @property
    def seconds(self) -> float:
        """How long the answer took."""
        return sum(ticket.took for ticket in self._tickets())


@dataclass(eq=False)
class Run:
    """One run of a case, and the outcomes that are read off it."""

    outcome: CaseOutcome
    contract: CaseOutcome | None = None
    values: CaseOutcome | None = None

    def close(self) -> Iterator[CaseOutcome]:
        """Read the other outcomes off the run that is over; yields all of them."""
        main, check = self.outcome, self.outcome.check
        assert check is not None
        yield main
        if self.contract is not None:  # out of bounds or changed in place: seen in every run that is traced
            check.receive_the_rest()
            found = (contract_failure(exchange) for exchange in check.exchanges if exchange.settled)
            broke = main.failure if any(e.reply["kind"] not in ANSWERED for e in check.exchanges) else None
            self.contract.check = check
            self.contract.fail(next(filter(None, found), broke))
            yield self.contract
        if self.values is not None:  # in float64 the values are compared before the gradients
            self.values.check = check
            in_gradient = main.failure is not None and "gradient" in main.failure.kind
            self.values.fail(None if in_gradient else main.failure)
            yield self.values


def planned(case: Case, variants: list[Variant]) -> list[Run]:
    """Return the runs that give the outcomes of these variants: fewer than there are variants."""
    outcomes = {(variant.family, variant.label): CaseOutcome(case, variant) for variant in variants}
    runs: list[Run] = []
    contract = outcomes.get(("contract", "")) if case.family in DERIVED_FROM else None
    values = outcomes.get(("dtype", "float64")) if case.family in DERIVED_FROM else None
    for outcome in outcomes.values():
        if outcome in (contract, values):
            continue
        run = Run(outcome)
        if outcome.family in DERIVED_FROM and contract is not None:
            outcome.variant = dataclasses.replace(outcome.variant, trace=True)
            run.contract, contract.aside = contract, True
        if outcome.family == "grad" and values is not None:
            run.values, values.aside = values, True
        runs.append(run)
    runs += [Run(outcome) for outcome in (contract, values) if outcome is not None and not outcome.aside]
    return runs


class Runner:
    """Runs cases against the answer, some of them ahead of their judgement."""

    def __init__(self, grading: Grading, on_outcome: Callable[[CaseOutcome], None]) -> None:
        self._grading, self._on_outcome = grading, on_outcome
        self._open: deque[Run] = deque()
        self._done_with: dict[Lane, list[int]] = {}
        self._first: Check | None = None

    def run(self, case: Case, variants: list[Variant]) -> None:
        """Ask the answer for everything that the variants of a case want; judge the oldest runs that are open."""
        self._first = None
        for run in planned(case, variants):
            self._run(run)

    def finish(self) -> None:
        """Judge all that is open."""
        while self._open:
            self._finish(self._open.popleft())

    def _run(self, run: Run) -> None:
        outcome = run.outcome
        if outcome.variant.device == SIMULATED and (problem := self._grading.answer.device_problem()):
            outcome.outcome, outcome.reason = "skipped", f"the simulated device does not work here: {problem}"
            self._on_outcome(outcome)
            return
        lane = self._grading.answer.lane(outcome.family)
        if self._begin(outcome):
            lane.flush()
            self._open.append(run)
        else:
            self._close(run)
        self._first = self._first or outcome.check
        while self._open and (lane.careful or len(self._open) > RUNS_AHEAD):
            self._finish(self._open.popleft())

    def _begin(self, outcome: CaseOutcome) -> bool:
        """Run the function of the case. Returns whether something is left to be judged."""
        grading, variant, case = self._grading, outcome.variant, outcome.case
        lane = grading.answer.lane(variant.family)
        for _ in range(MOST_RESTARTS):
            weights = Numbers(grading.seed, f"weights of {case.stream}")
            outcome.check = Check(grading, variant, weights, lane, self._done_with.pop(lane, []), self._first)
            try:
                case.function(outcome.check, Numbers(grading.seed, case.stream))
            except Failure as failure:
                outcome.fail(failure)
                return False
            except Lost:
                continue
            return True
        raise RuntimeError(f"{outcome.id} was lost {MOST_RESTARTS} times")

    def _finish(self, run: Run) -> None:
        for _ in range(MOST_RESTARTS):
            assert run.outcome.check is not None
            try:
                run.outcome.check.settle()
            except Failure as failure:
                run.outcome.fail(failure)
            except Lost:  # it stood behind one that ended the sandbox
                if self._begin(run.outcome):
                    continue
            break
        else:
            raise RuntimeError(f"{run.outcome.id} was lost {MOST_RESTARTS} times")
        self._close(run)

    def _close(self, run: Run) -> None:
        check = run.outcome.check
        for outcome in run.close():
            self._on_outcome(outcome)
        if check is not None:
            self._done_with.setdefault(self._grading.answer.lane(run.outcome.family), []).extend(check.handles)
            self._grading.reference.release(check.handles)


def again(outcome: CaseOutcome, grading: Grading, backend: Any, *, judges: bool = False) -> None:
    """Run a case once more with something else as the answer; what it raises comes through."""
    weights = Numbers(grading.seed, f"weights of {outcome.case.stream}")
    variant = outcome.check.variant if outcome.check is not None else outcome.variant
    check = Check(grading, variant, weights, backend, [])
    check.judges = judges
    outcome.case.function(check, Numbers(grading.seed, outcome.case.stream))
    check.settle()
