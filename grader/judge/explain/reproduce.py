"""What an answer did in a case, and whether something else does the same there."""

# torch has classes without annotations:
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from grader.judge.contract import Grading
from grader.judge.exchange.results import Exchange
from grader.judge.exchange.seen import asked_of, cost_of
from grader.judge.explain.response import Response
from grader.judge.failure import Failure, Satisfied
from grader.judge.runs.lives import again
from grader.judge.runs.outcome import CaseOutcome
from grader.judge.tolerance import GRADIENT_SLACK, allowed, relative
from grader.judge.workers.backend import Header, Tensors, reply_of
from grader.judge.workers.pending import Reply
from grader.probes.meter import Cost
from grader.sandbox.executor import RUN_BITS, Executor
from grader.sandbox.observe import SIMULATED
from grader.transport.callables import steps_in
from grader.transport.wire import tensors_in

if TYPE_CHECKING:
    from grader.judge.runs.recording import Recording

COMPARABLE: Final = frozenset(("value", "built", "error", "missing"))
LONGEST_DECODED: Final = 8000
"""So many tokens may the prefixes of a call have together: each decodes anew for each mistake of the bank."""
BY_NUMBERS: Final = ("value", "gradient-value", "fact")
"""Failures of an answer whose numbers are not near enough, or not what a case says of them: that may be very small."""
SURELY: Final = 3 * GRADIENT_SLACK
"""So many times as far off as two that do the same may be apart nothing passes: a gradient may be off ten times."""
OVER_SIZES: Final = ("RuntimeError", "IndexError", "ValueError")
"""What torch raises over sizes and values, and Python over the number of parts."""
MOST_APART: Final = 2.5
"""One wasteful way to do a thing may cost so many times as much as another, written by somebody else."""
MOST_PRODUCTS_APART: Final = 1.25
"""But it multiplies the same: so many times as many multiply-adds are of something else."""


class Different(BaseException):
    """Something else was done than the answer did."""


def is_comparable(case: CaseOutcome) -> bool:
    """Whether all that the answer did in a case can be done again here."""
    check = case.check
    if case.failure is not None and case.failure.kind == "tampering":
        return False
    if case.evidence.is_drawn_again:
        return False
    if case.variant.device not in ("cpu", SIMULATED) or case.case.trains or case.case.large:
        return False
    if check is None or not check.exchanges:
        return case.evidence.is_accepted_at_a_glance
    settled = [exchange for exchange in check.exchanges if exchange.settled]
    if any(is_long(exchange) for exchange in settled):
        return False
    return bool(settled) and all(exchange.reply["kind"] in COMPARABLE for exchange in settled)


def is_of_its_family(case: CaseOutcome) -> bool:
    """Whether a case fails by what its family is for: where a cost is counted numbers may be wrong, too."""
    return case.family != "cost" or (case.failure is not None and case.failure.kind == "cost")


def is_long(exchange: Exchange) -> bool:
    """Whether a call decodes so many tokens that nobody makes it again and again."""
    asked = sum(length for _rows, length in asked_of(exchange.reply))
    if exchange.reply["kind"] == "error":  # which does not tell how far it came
        asked = max((step.table.size(0) ** 2 // 2 for step in steps_in(exchange.trees)), default=0)
    return asked > LONGEST_DECODED


def reproduces(grading: Grading, implementation: MistakeRunner, case: CaseOutcome) -> bool:
    """Whether an implementation does, operation by operation, what the answer did in a case.

    What passes a case is not what an answer did that fails it, however near the numbers are.
    """
    if not case.evidence.is_accepted_at_a_glance:
        return _reproduces(grading, implementation, case) and not _is_merely_near(grading, implementation, case)
    # It passed at a glance: whoever does what one such answer did does what all of them did.
    return implementation.passes(grading.seed, case.id, lambda: _passes(grading, implementation, case))


def passes(grading: Grading, implementation: MistakeRunner, case: CaseOutcome) -> bool | None:
    """Whether an implementation passes a case at a glance, whatever the answer did; None where that takes more."""
    recording = case.evidence.recording
    if recording is None or not recording.can_be_met or case.is_read_off:
        return None
    find_out = partial(_meets, grading, implementation, recording)
    return implementation.passes(grading.seed, f"{case.id}, at a glance", find_out)


def raises_alike(grading: Grading, implementation: MistakeRunner, case: CaseOutcome) -> bool | None:
    """Whether an implementation raises what the answer did in a case; None where that may be a matter of sizes.

    What is raised over a name, a type or a key has one cause: no two mistakes come to it together.
    """
    check = case.check
    if check is None:
        return None
    recorded = [exchange for exchange in check.exchanges if exchange.settled]
    if not recorded or recorded[-1].reply["kind"] != "error" or recorded[-1].reply.get("type") in OVER_SIZES:
        return None
    raised = recorded[-1].reply.get("type")
    done = implementation.remembered(grading.seed, recorded, looked=check.looked)
    return any(response.reply["kind"] == "error" and response.reply.get("type") == raised for response in done)


def agrees_with(grading: Grading, implementation: MistakeRunner, case: CaseOutcome) -> bool:
    """Whether a passing case says nothing against a mistake that is not the only one.

    It does what the answer did there, or it passes there as well: what else the answer does does not matter to it.
    """
    return reproduces(grading, implementation, case) or _is_passed(grading, implementation, case)


def contradicted(grading: Grading, implementation: MistakeRunner, cases: list[CaseOutcome]) -> int:
    """Count the passing cases that say something against a mistake."""
    return sum(not agrees_with(grading, implementation, case) for case in cases)


def _is_merely_near(grading: Grading, implementation: MistakeRunner, case: CaseOutcome) -> bool:
    if case.failure is None or case.failure.kind not in BY_NUMBERS or case.is_read_off or _is_far(case, case.failure):
        return False
    at_a_glance = passes(grading, implementation, case)
    return at_a_glance if at_a_glance is not None else _is_passed(grading, implementation, case)


def _is_far(case: CaseOutcome, failure: Failure) -> bool:
    """Whether an answer's numbers are so far off that whoever does the same as far as it is seen is far off as well."""
    if failure.tolerance is None or case.check is None:
        return False
    failing = case.check.exchanges[failure.at]
    known = (failing.want, failing.want_grads, failing.value, failing.grads)
    numbers = [tensor for tensor in tensors_in(known) if tensor.is_floating_point() and tensor.numel()]
    largest = max((float(tensor.abs().max()) for tensor in numbers), default=math.nan)
    near = max((relative(tensor.dtype) for tensor in numbers), default=math.nan)
    return failure.times * failure.tolerance.most > SURELY * allowed(largest, near)


def _is_passed(grading: Grading, implementation: MistakeRunner, case: CaseOutcome) -> bool:
    judged = partial(_is_accepted, grading, implementation, case)
    return implementation.passes(grading.seed, f"{case.id}, judged", judged)


def _is_accepted(grading: Grading, implementation: MistakeRunner, case: CaseOutcome) -> bool:
    try:
        again(case, grading, StandIn(implementation), judges=True)
    except Failure:
        return False
    return True


def _passes(grading: Grading, implementation: MistakeRunner, case: CaseOutcome) -> bool:
    """Whether an implementation does what a passing answer did, at a glance or operation by operation."""
    recording = case.evidence.recording
    if recording is not None and not case.is_read_off and _meets(grading, implementation, recording):
        return True
    return _reproduces(grading, implementation, case)


def _meets(grading: Grading, implementation: MistakeRunner, ready: Recording) -> bool:
    """Whether an implementation replies to what was prepared as a passing answer does."""
    responses = implementation.remembered(grading.seed, ready.exchanges, looked=False)
    return ready.met((response.reply, response.payload) for response in responses)


def _reproduces(grading: Grading, implementation: MistakeRunner, case: CaseOutcome) -> bool:
    check = case.evidence.checked
    assert check is not None
    recorded = [exchange for exchange in check.exchanges if exchange.settled]
    if case.variant.cost and (case.failure is None or case.failure.kind == "cost"):
        return _costs_as_much(grading, implementation, case, recorded)
    at: Response | None = None
    for exchange, at in zip(
        recorded, implementation.remembered(grading.seed, recorded, looked=check.looked), strict=False
    ):
        if not at.is_that_of(exchange):
            return False
    by_value = case.failure is not None and case.failure.kind == "value"
    return not (by_value and at is not None and at.is_blurred(recorded[-1]))


class MistakeRunner(Executor):
    """A known mistake. What it does is remembered for the next answer that gets the same inputs."""

    def __init__(self, source: str, filename: str, families: frozenset[str]) -> None:
        """``families``: of what it does wrong. Only the contract's may call what is forbidden: no other is traced."""
        super().__init__(filename)
        self.load(source)
        self._traced = "contract" in families
        self.distance = 0.0
        """How far its cost was from that of the answer in the last case that fails by its cost."""
        self._seed = -1
        self._responses: dict[int, list[Response]] = {}
        self._passes: dict[str, bool] = {}

    def passes(self, seed: int, case: str, find_out: Callable[[], bool]) -> bool:
        """Whether it passes a case, as far as that does not depend on an answer."""
        self._forget_other(seed)
        if case not in self._passes:
            self._passes[case] = find_out()
        return self._passes[case]

    def remembered(self, seed: int, recorded: list[Exchange], *, looked: bool) -> Iterator[Response]:
        """Yield what it does when it is asked what was asked in one run, from memory where it was asked this before.

        ``looked``: whether what was asked may depend on what the answer did.
        """
        self._forget_other(seed)
        known = self._responses.setdefault(number_of(recorded[0]), [])
        if looked and not all(response.was_asked(e.sent) for response, e in zip(known, recorded, strict=False)):
            known.clear()
        yield from known
        for at, response in enumerate(self._done(recorded, looked) if len(known) < len(recorded) else ()):
            if at >= len(known):
                known.append(response)
                yield response

    def _done(self, recorded: list[Exchange], looked: bool) -> Iterator[Response]:
        for exchange in recorded:
            header, tensors = exchange.sent
            reply = reply_of(self, header if self._traced else header | {"trace": None}, tensors)
            yield Response(reply, exchange.sent if looked else None)

    def _forget_other(self, seed: int) -> None:
        """Keep what was remembered for these inputs."""
        if seed != self._seed:
            self._seed = seed
            self._responses.clear()
            self._passes.clear()


def number_of(exchange: Exchange) -> int:
    """Return the number of the run that an operation belongs to."""
    header = exchange.sent[0]
    number: int = header["handle"] if header["op"] == "build" else header["key"]
    return number >> RUN_BITS


class StandIn:
    """An implementation in the place of the answer, whatever it does."""

    def __init__(self, implementation: Executor) -> None:
        self._implementation = implementation

    def submit(self, header: Header, tensors: Tensors) -> Any:
        """Do one operation."""
        return reply_of(self._implementation, header, tensors)

    def wait(self, asked: Any) -> Reply:
        """Return what was done already."""
        done: Reply = asked
        return done


class _Replay:
    """An implementation in the place of the answer, as long as it does the same."""

    def __init__(self, implementation: Executor, recorded: list[Exchange]) -> None:
        self._implementation, self._recorded = implementation, recorded
        self._at = 0
        self.distance = 0.0
        self.products_apart = 1.0
        """By which factor the multiply-adds of one operation differ at most."""

    def submit(self, header: Header, tensors: Tensors) -> Any:
        """Do one operation. Raises Different."""
        if self._at == len(self._recorded):
            raise Different
        recorded = self._recorded[self._at]
        self._at += 1
        reply = reply_of(self._implementation, header, tensors)
        if not Response(reply).is_that_of(recorded):
            raise Different
        mine, theirs = cost_of(reply[0]), recorded.cost
        if mine is not None and theirs is not None:
            self.distance += _distance(mine, theirs)
            if theirs.madds:  # else it multiplies without a contraction, which is not counted so
                self.products_apart = max(self.products_apart, _factor(mine.madds, theirs.madds))
        return reply

    def wait(self, asked: Any) -> Reply:
        """Return what was done already."""
        done: Reply = asked
        return done


def _costs_as_much(
    grading: Grading, implementation: MistakeRunner, case: CaseOutcome, recorded: list[Exchange]
) -> bool:
    """Counts need not be equal to the last multiplication: what must be the same is what the case says of them."""
    replay = _Replay(implementation, recorded)
    implementation.distance = math.inf
    try:
        again(case, grading, replay)
    except (Different, Satisfied):
        return False
    except Failure as failure:
        implementation.distance = replay.distance
        theirs = case.failure
        if theirs is None or failure.kind != theirs.kind or replay.products_apart > MOST_PRODUCTS_APART:
            return False
        return _similar(failure.counted, theirs.counted)
    return case.failure is None


def _similar(mine: float, theirs: float) -> bool:
    """Whether two costs over a limit may have one cause."""
    return mine == theirs or bool(mine and theirs and abs(math.log(mine / theirs)) < math.log(MOST_APART))


def _factor(one: float, other: float) -> float:
    """Return how many times as large the larger of two counts is."""
    return (1 + max(one, other)) / (1 + min(one, other))


def _distance(mine: Cost, theirs: Cost) -> float:
    """Return how far two counts are apart, in factors."""
    pairs = [(mine.calls, theirs.calls), (mine.madds, theirs.madds), (mine.elems, theirs.elems)]
    pairs.append((mine.biggest, theirs.biggest))
    return sum(math.log(_factor(one, two)) for one, two in pairs)
