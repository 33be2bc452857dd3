"""What came of a case in each of its variants, and the runs that it is read off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from grader.judge.cases.case import DERIVED_FROM, Case
from grader.judge.cases.check import Check
from grader.judge.cases.variant import LevelSet, Variant, as_traced
from grader.judge.exchange.observed import contract_failure
from grader.judge.exchange.results import Exchange
from grader.judge.failure import Failure, Outcome
from grader.judge.runs.recording import Recording
from grader.judge.workers.pending import Pending

Skipped = Literal["lost", "machine", "left-out", "unasked", "untrained"]
"""Why a case does not run.

``machine``: it cannot run here, whatever the answer, which alone excuses it; ``lost``: nobody has come to it;
``left-out``: the answer has ended its process again and again; ``unasked``: it repeats other cases in another way and
nobody needs it to know that the answer fails; ``untrained``: nothing is trained before all others have passed.
"""
ANSWERED: Final = ("value", "built")


@dataclass(eq=False)
class CaseOutcome:
    """What happened in one variant of a case."""

    case: Case
    variant: Variant
    outcome: Outcome = "skipped"
    """Nothing has passed before its run is over."""
    failure: Failure | None = None
    reason: str = ""
    skipped: Skipped | None = "lost"
    """Why it did not run; None where it did."""
    run: Run | None = field(default=None, repr=False)
    """The run that it is read off; None where a case goes through a check without one."""
    needs: LevelSet | None = None
    """The smallest set of the levels of its variant at which it fails; None where nobody has looked."""
    _until: int = 0
    """So many operations had been judged when it failed."""
    is_read_off: bool = False
    """Whether it was read off the run of another variant, which shows what was printed and how long it took."""

    @property
    def check(self) -> Check | None:
        """What was asked and replied, where somebody has looked closer."""
        return self.run.check if self.run is not None else None

    @property
    def evidence(self) -> Run:
        """The run that it rests on."""
        assert self.run is not None
        return self.run

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
        return (self.case.title or self.case.name.removeprefix("test_").replace("_", " ")) + own + label

    @property
    def is_out_of_bounds(self) -> bool:
        """Whether it failed since something forbidden was called."""
        return self.failure is not None and self.failure.kind == "forbidden"

    def succeed(self) -> None:
        """Note that its run is over; unless it has failed, it has passed."""
        if self.failure is None:
            self.outcome, self.skipped = "passed", None

    def skip(self, why: Skipped, reason: str) -> None:
        """Note that it does not run."""
        self.outcome, self.skipped, self.reason = "skipped", why, reason

    def fail(self, failure: Failure | None) -> None:
        """Note a failure, if there is one."""
        if failure is not None:
            self.failure, self.outcome, self.skipped = failure, failure.outcome, None
            check = self.check
            self._until = sum(exchange.settled for exchange in check.exchanges) if check is not None else 0

    @property
    def printed(self) -> str:
        """What the answer printed during the case: up to its failure, not in what was asked ahead behind that."""
        asked = self.evidence.asked() if self.run is not None else []
        until = self._until if self.outcome == "failed" and self._until else len(asked)
        return "" if self.is_read_off else "".join(operation.printed for operation in asked[:until])

    @property
    def seconds(self) -> float:
        """How long the answer took."""
        if self.is_read_off or self.run is None:
            return 0.0
        return sum(operation.took for operation in self.run.asked())


def failed_after(outcome: CaseOutcome) -> list[Exchange]:
    """Return what a failing case asked for, up to what failed."""
    check, failure = outcome.check, outcome.failure
    if check is None or failure is None:
        return []
    at = failure.at if failure.at >= 0 else len(check.exchanges) - 1
    return [exchange for exchange in check.exchanges[: at + 1] if exchange.settled]


@dataclass(eq=False)
class Run:
    """One run of a case as far as it has come, and the outcomes that are read off it."""

    outcome: CaseOutcome
    contract: CaseOutcome | None = None
    values: CaseOutcome | None = None
    number: int = 0
    recording: Recording | None = field(default=None, repr=False)
    """What it asks and expects, where that was made before there was an answer."""
    operations: list[Pending] = field(default_factory=list, repr=False)
    """What was asked of the answer, as far as there is no check that knows."""
    check: Check | None = field(default=None, repr=False)
    """What was asked and replied, judged in the long way."""
    is_drawn_again: bool = False
    """Whether the check is that of other inputs than those which all answers of the seed get."""
    rejudge: Callable[[], Check] | None = field(default=None, repr=False)
    """Makes the check from the replies, where the run was accepted at a glance."""
    _hidden: list[CaseOutcome] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Be what its outcomes rest on."""
        for outcome in self._all:
            outcome.run = self

    @property
    def is_accepted_at_a_glance(self) -> bool:
        """Whether every reply was what a passing answer's is, so that nobody had to look closer."""
        return self.rejudge is not None

    @property
    def checked(self) -> Check | None:
        """The check, made now where nobody has wanted it yet; None for a run that was never asked."""
        if self.check is None and self.rejudge is not None:
            self.check = self.rejudge()
        return self.check

    def asked(self) -> list[Pending]:
        """Return all that was asked of the answer."""
        if self.check is None:
            return self.operations
        return [exchange.asked for exchange in self.check.exchanges if isinstance(exchange.asked, Pending)]

    @property
    def outcomes(self) -> list[CaseOutcome]:
        """All that it decides and somebody wants to know."""
        return [outcome for outcome in self._all if outcome not in self._hidden]

    @property
    def _all(self) -> list[CaseOutcome]:
        return [outcome for outcome in (self.outcome, self.contract, self.values) if outcome is not None]

    @property
    def variant(self) -> tuple[str, str]:
        """The name of its variant."""
        return self.outcome.variant.family, self.outcome.variant.label

    @property
    def is_main(self) -> bool:
        """Whether it is the case itself, not derived from it."""
        return self.outcome.family == self.outcome.case.family

    def skip(self, why: Skipped, reason: str) -> None:
        """Note that it does not run, nor what would be read off it."""
        for outcome in self._all:
            outcome.skip(why, reason)

    def restrict_to(self, wanted: Callable[[CaseOutcome], bool]) -> bool:
        """Decide only the outcomes that are wanted. Returns whether there are any."""
        self._hidden = [outcome for outcome in self._all if not wanted(outcome)]
        return bool(self.outcomes)

    def close(self) -> Iterator[CaseOutcome]:
        """Read the other outcomes off the run that is over; yields those that are wanted."""
        self._read()
        yield from self.outcomes

    def _read(self) -> None:
        if self.outcome.outcome == "skipped" and self.outcome.skipped != "lost":
            return
        if self.check is not None:  # else it passed at a glance, and the others with it
            self._look_closer(self.check)
        for outcome in self._all:
            outcome.succeed()

    def _look_closer(self, check: Check) -> None:
        main = self.outcome
        if self.contract is not None:  # out of bounds or changed in place: seen in every run that is traced
            check.receive_the_rest()
            found = (contract_failure(exchange) for exchange in check.exchanges if exchange.settled)
            broke = main.failure if any(e.reply["kind"] not in ANSWERED for e in check.exchanges) else None
            self.contract.fail(next(filter(None, found), broke))
        if self.values is not None:  # in float64 the values are compared before the gradients
            in_gradient = main.failure is not None and "gradient" in main.failure.kind
            self.values.fail(None if in_gradient else main.failure)


def planned(case: Case, variants: list[Variant]) -> list[Run]:
    """Return the runs that give the outcomes of these variants: fewer than there are variants."""
    outcomes = {(variant.family, variant.label): CaseOutcome(case, variant) for variant in variants}
    runs: list[Run] = []
    contract = outcomes.get(("contract", "")) if case.family in DERIVED_FROM else None
    values = outcomes.get(("dtype", "float64")) if case.family in DERIVED_FROM else None
    for outcome in outcomes.values():
        if outcome in (contract, values):
            continue
        its_contract = contract if outcome.family in DERIVED_FROM else None
        its_values = values if outcome.family == "grad" else None
        if its_contract is not None:
            outcome.variant, its_contract.is_read_off = as_traced(outcome.variant), True
        if its_values is not None:
            its_values.is_read_off = True
        runs.append(Run(outcome, its_contract, its_values))
    runs += [Run(outcome) for outcome in (contract, values) if outcome is not None and not outcome.is_read_off]
    return runs
