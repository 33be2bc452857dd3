"""A case and its variants: what runs, what came of it, and running it again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from grader.judge.check import Check, Variant
from grader.judge.failure import Failure, Outcome
from grader.judge.grading import Grading
from grader.judge.numbers import Numbers
from grader.sandbox.host import Lost, Ticket

CORE: Final = "core"
DERIVED_FROM: Final = (CORE, "mask")
SIMULATED: Final = "sim"
HALVES: Final = {"float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}
RUNS_AHEAD: Final = 12
MOST_RESTARTS: Final = 20


def variants_of(
    family: str, chosen: tuple[str, ...] | None, families: tuple[str, ...], device: str = SIMULATED
) -> list[Variant]:
    """Return the variants of a case: its own, and those derived from it. ``chosen`` are the marked families, None for all."""
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
    position: int
    function: Callable[[Check, Numbers], None] = field(repr=False)

    @property
    def stream(self) -> str:
        """The name under which its inputs are drawn: the same for each variant."""
        return f"{self.name}({self.parameters})"


@dataclass
class CaseOutcome:
    """What happened in one variant of a case."""

    case: Case
    variant: Variant
    outcome: Outcome = "passed"
    failure: Failure | None = None
    reason: str = ""
    check: Check | None = field(default=None, repr=False)

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

    def _tickets(self) -> list[Ticket]:
        exchanges = self.check.exchanges if self.check else []
        return [exchange.asked for exchange in exchanges if isinstance(exchange.asked, Ticket)]

    @property
    def printed(self) -> str:
        """What the answer printed during the case."""
        return "".join(ticket.printed for ticket in self._tickets())

    @property
    def seconds(self) -> float:
        """How long the answer took."""
        return sum(ticket.took for ticket in self._tickets())


class Runner:
    """Runs variants of cases against the answer, some of them ahead of their judgement."""

    def __init__(self, grading: Grading, on_outcome: Callable[[CaseOutcome], None]) -> None:
        self._grading, self._on_outcome = grading, on_outcome
        self._open: deque[CaseOutcome] = deque()
        self._done_with: dict[str, list[int]] = {}

    def run(self, case: Case, variant: Variant) -> None:
        """Ask the answer for everything that a case wants; judge the oldest ones that are open."""
        outcome = CaseOutcome(case, variant)
        if variant.device == SIMULATED and (problem := self._grading.answer.device_problem()):
            outcome.outcome, outcome.reason = "skipped", f"the simulated device does not work here: {problem}"
            self._on_outcome(outcome)
            return
        lane = self._grading.answer.lane(variant.family)
        if self._begin(outcome):
            lane.flush()
            self._open.append(outcome)
        else:
            self._close(outcome)
        careful = lane.careful
        while self._open and (careful or len(self._open) > RUNS_AHEAD):
            self._finish(self._open.popleft())

    def finish(self) -> None:
        """Judge all that is open."""
        while self._open:
            self._finish(self._open.popleft())

    def _begin(self, outcome: CaseOutcome) -> bool:
        """Run the function of the case. Returns whether something is left to be judged."""
        grading, variant, case = self._grading, outcome.variant, outcome.case
        lane = grading.answer.lane(variant.family)
        forget = self._done_with.pop(variant.family, [])
        for _ in range(MOST_RESTARTS):
            weights = Numbers(grading.seed, f"weights of {case.stream}")
            outcome.check = Check(grading, variant, weights, lane, forget)
            try:
                case.function(outcome.check, Numbers(grading.seed, case.stream))
            except Failure as failure:
                outcome.failure, outcome.outcome = failure, failure.outcome
                return False
            except Lost:
                forget = []
                continue
            return True
        raise RuntimeError(f"{outcome.id} was lost {MOST_RESTARTS} times")

    def _finish(self, outcome: CaseOutcome) -> None:
        for _ in range(MOST_RESTARTS):
            assert outcome.check is not None
            try:
                outcome.check.settle()
            except Failure as failure:
                outcome.failure, outcome.outcome = failure, failure.outcome
            except Lost:  # it stood behind one that ended the sandbox
                if self._begin(outcome):
                    continue
            break
        else:
            raise RuntimeError(f"{outcome.id} was lost {MOST_RESTARTS} times")
        self._close(outcome)

    def _close(self, outcome: CaseOutcome) -> None:
        if outcome.check is not None:
            self._done_with.setdefault(outcome.family, []).extend(outcome.check.handles)
            self._grading.release(outcome.check.handles)
        self._on_outcome(outcome)


def again(outcome: CaseOutcome, grading: Grading, backend: Any, *, judges: bool = False) -> None:
    """Run a case once more with something else as the answer; what it raises comes through."""
    weights = Numbers(grading.seed, f"weights of {outcome.case.stream}")
    check = Check(grading, outcome.variant, weights, backend, [])
    check.judges = judges
    outcome.case.function(check, Numbers(grading.seed, outcome.case.stream))
    check.settle()
