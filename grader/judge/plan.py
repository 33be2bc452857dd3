"""A grading that is prepared before there is an answer: what will be asked, and what a passing answer replies.

Inputs and the reference's results do not depend on the answer, so they can be made while the learner is still typing.
Each case is run against the reference in the place of the answer; what it asks for is kept as ready messages. A case
that looks at results while it runs is run again when they are in; for any other the expectations decide.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from grader.judge.agreement import Agreement
from grader.judge.cases import Case, CaseOutcome, Run, planned, variants_of
from grader.judge.check import Check
from grader.judge.expected import MALFORMED, AnyValue, BuiltModule, Expectation, Expected, value_of
from grader.judge.failure import Failure
from grader.judge.grading import Grading
from grader.judge.kinds import DEPTHS, JOINT, Depth, chosen, shares_memory
from grader.judge.lanes import Asked, Header, Lane, Local, Tensors
from grader.judge.numbers import Numbers
from grader.judge.replies import device_of_results, expected_gradients
from grader.judge.results import Exchange
from grader.judge.sequence import Ready, balanced, parted, together
from grader.judge.variant import Variant
from grader.sandbox.keeper_line import DEVICE_LANE
from grader.sandbox.messages import Message, Payload, Several, same_operation
from grader.sandbox.tickets import Lost, Reply, Ticket
from grader.sandbox.wire import Tree

MOST_KEPT: Final = 50


@dataclass
class Prepared:
    """What one run of a case asks for, and what is known about the replies."""

    variant_dtype: torch.dtype
    messages: list[Message] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)
    agreements: list[Agreement] = field(default_factory=list)
    is_known: bool = False
    """Whether the reference went through all of it."""
    is_special: bool = False
    """Whether the case does something else in this variant than in others."""
    is_straight: bool = False
    """Whether what it asks for does not depend on what comes back, so that nobody has to ask in order to judge: the
    expectations alone may accept the run."""
    relies_on: frozenset[int] = frozenset()
    """The numbers of the runs that stand for this one as long as they all pass."""

    def met(self, replies: Iterable[tuple[Header | None, Payload]]) -> bool:
        """Whether these replies, with their payloads, are those of a passing answer."""
        read: list[tuple[Header, Payload]] = []
        for expected, (reply, payload) in zip(self.expected, replies, strict=True):
            assert reply is not None
            if not expected.met(reply, payload):
                return False
            read.append((reply, payload))
        try:
            return all(agreement.holds(lambda index: value_of(*read[index])) for agreement in self.agreements)
        except MALFORMED:
            return False

    def asked_with(self, tickets: list[Ticket]) -> list[Exchange]:
        """Return the exchanges of a straight run, asked with these tickets and not yet judged."""
        asked = [Exchange(e.header, e.trees, e.call, e.names, e.compared, e.key, e.size) for e in self.exchanges]
        for exchange, prepared, ticket in zip(asked, self.exchanges, tickets, strict=True):
            exchange.sent, exchange.asked = prepared.sent, ticket
        return asked

    def wanted(self, index: int, carries: list[bool] | None) -> tuple[Tree, dict[str, Any]] | None:
        """Return what the reference returned for a call; None where it is not known (see `Twin`)."""
        if not self.is_known or index >= len(self.exchanges) or (carries is not None and not all(carries)):
            return None
        exchange = self.exchanges[index]
        return (exchange.want, exchange.want_grads) if exchange.compared else None


@dataclass(frozen=True)
class Joint:
    """A run in the place of two of the same case: in one dtype and on the device at once. If it passes, both do."""

    run: Run
    ready: Prepared
    stands_for: frozenset[int]

    def again(self) -> Ready:
        """Return the run, for another answer."""
        run = self.run
        return Run(CaseOutcome(run.outcome.case, run.outcome.variant), number=run.number, lane=DEVICE_LANE), self.ready


class Plan:
    """All runs of a kata's cases with the inputs of one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.runs: list[Prepared] = []
        self.joints: list[Joint] = []
        self.lanes: dict[int, str] = {}
        self.ahead: dict[str, list[Several]] = {}
        """What a grading asks for first, by lane."""
        self._several: dict[tuple[int, ...], Several] = {}

    def steps(self, grading: Grading, cases: list[Case]) -> Iterator[None]:
        """Prepare run after run; the caller may stop in between."""
        stand_in = Local(grading.reference_text, "reference.py")
        runs = runs_of(cases, grading.kata.families)
        for run in runs:
            self.runs.append(_prepared(run, grading, stand_in))
            yield
        for halved, on_device in self._choose(runs):
            variant = dataclasses.replace(on_device.outcome.variant, dtype=halved.outcome.variant.dtype)
            both = Run(CaseOutcome(on_device.outcome.case, variant), number=len(runs) + len(self.joints) + 1)
            ready = _prepared(both, grading, stand_in)
            if ready.is_straight:
                self.joints.append(Joint(both, ready, frozenset((halved.number, on_device.number))))
            yield
        alone, joints = self.jointly(parted(runs, self)[0])
        asked = [*alone, *(pair for pair, _parts in joints)]
        self.lanes = balanced(asked)
        for lane, group in together(asked, lambda run: self.lanes[run.number]):
            self.ahead.setdefault(lane, []).append(self.several(group))
            yield

    def jointly(self, runs: list[Ready]) -> tuple[list[Ready], list[tuple[Ready, list[Ready]]]]:
        """Part these runs into those to be made by themselves and joint ones, each with those it stands for."""
        by_number = {run.number: (run, ready) for run, ready in runs}
        joints = [joint for joint in self.joints if joint.stands_for <= by_number.keys()]
        saved = {number for joint in joints for number in joint.stands_for}
        alone = [pair for pair in runs if pair[0].number not in saved]
        return alone, [(joint.again(), [by_number[number] for number in joint.stands_for]) for joint in joints]

    def several(self, runs: list[Ready]) -> Several:
        """Return all that these runs ask for in one message; those that answers have in common are kept."""
        key = tuple(run.number for run, _ready in runs)
        if key in self._several:
            return self._several[key]
        several = Several([message for _run, ready in runs for message in ready.messages])
        if len(self._several) < MOST_KEPT:
            self._several[key] = several
        return several

    def _choose(self, runs: list[Run]) -> list[tuple[Run, Run]]:
        """Among the derived runs of a variant, let some stand for the others.

        Returns the pairs of these that can be made in one.
        """
        variants: dict[tuple[str, str], dict[int, list[Exchange]]] = {}
        for index, (run, ready) in enumerate(zip(runs, self.runs, strict=True)):
            if ready.is_known and not ready.is_special and run.outcome.family != run.outcome.case.family:
                variants.setdefault(run.variant, {})[index] = ready.exchanges
        pairs: list[tuple[Run, Run]] = []
        for variant, members in sorted(variants.items(), key=lambda item: item[0] == JOINT[1]):  # after its partner
            beside: frozenset[int] = frozenset()
            if variant == JOINT[1]:
                pairs = self._pairs(runs, members)
                beside = frozenset(on_device.number - 1 for _halved, on_device in pairs)
            found = chosen(members, DEPTHS.get(variant, Depth.MAGNITUDE), beside)
            for index in members:
                self.runs[index].relies_on = (
                    frozenset() if index in found else frozenset(number + 1 for number in found)
                )
        return pairs

    def _pairs(self, runs: list[Run], members: dict[int, list[Exchange]]) -> list[tuple[Run, Run]]:
        """Return the runs of the first joint variant that have to be made, each with that of the other one."""
        here = {runs[index].outcome.case.stream: runs[index] for index in members}
        pairs: list[tuple[Run, Run]] = []
        for run, ready in zip(runs, self.runs, strict=True):
            other = here.get(run.outcome.case.stream)
            if run.variant != JOINT[0] or other is None or ready.relies_on or not ready.is_straight:
                continue
            if other.outcome.variant.dtype == torch.float32 and not any(map(shares_memory, ready.exchanges)):
                pairs.append((run, other))
        return pairs


class Replies:
    """Gives a run of a case the replies that are in already; where it asks for something else, all is lost."""

    def __init__(self, lane: Lane, prepared: Prepared, tickets: list[Ticket]) -> None:
        self._lane, self._exchanges, self._tickets = lane, prepared.exchanges, tickets
        self._at = 0

    def submit(self, header: Header, tensors: Tensors) -> Ticket:
        """Return the operation that was asked for ahead. Raises Lost where it was another one."""
        at = self._at
        self._at += 1
        if at >= len(self._tickets) or not same_operation(self._exchanges[at].sent, (header, tensors)):
            raise Lost
        return self._tickets[at]

    def wait(self, asked: Asked) -> Reply:
        """Return its reply."""
        return self._lane.wait(asked)


class _Rehearsal:
    """Keeps what is asked; answers with the reference's own results where somebody looks."""

    def __init__(self, stand_in: Local) -> None:
        self._stand_in = stand_in
        self.messages: list[Message] = []
        self._open: list[tuple[Header, Tensors]] = []
        self._replies: list[Reply] = []

    def submit(self, header: Header, tensors: Tensors) -> Asked:
        """Keep an operation; returns its number, in the place of a ticket."""
        self.messages.append(Message(header, tensors))
        self._open.append((header, tensors))
        return len(self.messages) - 1  # type: ignore[return-value]

    def wait(self, asked: Any) -> Reply:
        """Do what was asked for up to this operation, on the CPU and unwatched."""
        while len(self._replies) <= asked:
            header, tensors = self._open.pop(0)
            self._replies.append(self._stand_in.reply(header | {"device": "cpu", "trace": None}, tensors))
        reply: Reply = self._replies[asked]
        return reply


def runs_of(cases: list[Case], families: tuple[str, ...], device: str = "") -> list[Run]:
    """Return the runs that give all outcomes of these cases, numbered."""
    runs = [run for case in cases for run in planned(case, variants_of(case, families, device))]
    for number, run in enumerate(runs, 1):
        run.number = number
    return runs


def _prepared(run: Run, grading: Grading, stand_in: Local) -> Prepared:
    outcome = run.outcome
    case, variant = outcome.case, outcome.variant
    if case.trains:  # nobody is kept waiting for a training that nobody asked for
        return Prepared(variant.dtype)
    rehearsal = _Rehearsal(stand_in)
    check = Check(grading, variant, Numbers(grading.seed, f"weights of {case.stream}"), rehearsal, run.number)
    check.judges = False
    result = Prepared(variant.dtype, rehearsal.messages, check.exchanges)
    if variant.compares_values:
        result.agreements = check.agreements
    try:
        case.function(check, Numbers(grading.seed, case.stream))
        if not check.looked:
            check.build_the_rest()
        result.is_known = not (variant.cost or check.expected_an_error)
    except Failure:
        pass  # by bad luck of these inputs, or because the case expects more than the reference's own run: not prepared
    result.is_special = check.asked_for_variant
    if result.is_known:
        for exchange in check.exchanges:
            exchange.settled = True  # what it wants is known in a moment; nobody asks the stand-in for it
        result.expected = [_expected(exchange, check, variant) for exchange in check.exchanges]
        result.is_straight = not check.looked
    grading.reference.release(check.handles)
    return result


def _expected(exchange: Exchange, check: Check, variant: Variant) -> Expected:
    if exchange.compared or exchange.header.get("stateful"):
        exchange.want, exchange.want_grads = check.reference(exchange)
    if exchange.header["op"] == "build":
        return BuiltModule(exchange.trees["state"], wants_module=exchange.header["wants_module"])
    device = device_of_results(exchange, variant.device)
    if not exchange.compared:
        return AnyValue(device)
    grads = expected_gradients(exchange) if variant.grad else {}
    return Expectation(exchange.want, grads, variant.dtype, device, grad=variant.grad)
