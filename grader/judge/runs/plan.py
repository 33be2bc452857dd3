"""A grading that is prepared before there is an answer: what will be asked, and what a passing answer replies.

Inputs and the reference's results do not depend on the answer, so they can be made while the learner is still typing.
Each case is run against the reference in the place of the answer; what it asks for is kept as ready messages. A case
that looks at results while it runs is run again when they are in; for any other the expectations decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from grader.judge.cases.check import Check
from grader.judge.cases.rng import Numbers
from grader.judge.cases.variant import Variant
from grader.judge.contract import Grading
from grader.judge.exchange.agreement import Agreement
from grader.judge.exchange.results import Exchange
from grader.judge.failure import Failure
from grader.judge.runs.batches import Ready, balanced, parted, together
from grader.judge.runs.coverage import DEPTHS, Depth, chosen
from grader.judge.runs.outcome import Case, Run, planned, variants_of
from grader.judge.verdict.expected import MALFORMED, AnyValue, BuiltModule, Expectation, Expected, value_of
from grader.judge.verdict.replies import device_of_results, expected_gradients
from grader.judge.workers.answer import Asked, Header, Lane, Local, Tensors
from grader.judge.workers.pending import Lost, Reply, Ticket
from grader.transport.operations import Message, Payload, Several, same_operation
from grader.transport.wire import Tree

MOST_KEPT: Final = 50


@dataclass
class Recording:
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
    repeats: frozenset[int] = frozenset()
    """The numbers of the runs that together show all that this one can: it is asked for after them."""

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


class Plan:
    """All runs of a kata's cases with the inputs of one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.runs: list[Recording] = []
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
        self._choose(runs)
        asked = parted(runs, self)[0]
        self.lanes = balanced(asked)
        for lane, group in together(asked, lambda run: self.lanes[run.number]):
            self.ahead.setdefault(lane, []).append(self.several(group))
            yield

    def several(self, runs: list[Ready]) -> Several:
        """Return all that these runs ask for in one message; those that answers have in common are kept."""
        key = tuple(run.number for run, _ready in runs)
        if key in self._several:
            return self._several[key]
        several = Several([message for _run, ready in runs for message in ready.messages])
        if len(self._several) < MOST_KEPT:
            self._several[key] = several
        return several

    def _choose(self, runs: list[Run]) -> None:
        """Among the derived runs of a variant, let some come first: the others repeat what they show."""
        variants: dict[tuple[str, str], dict[int, list[Exchange]]] = {}
        for index, (run, recording) in enumerate(zip(runs, self.runs, strict=True)):
            if recording.is_known and not recording.is_special and not run.is_main:
                variants.setdefault(run.variant, {})[index] = recording.exchanges
        for variant, members in variants.items():
            found = chosen(members, DEPTHS.get(variant, Depth.MAGNITUDE))
            for index in members.keys() - found:
                self.runs[index].repeats = frozenset(number + 1 for number in found)


class Replies:
    """Gives a run of a case the replies that are in already; where it asks for something else, all is lost."""

    def __init__(self, lane: Lane, prepared: Recording, tickets: list[Ticket]) -> None:
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


def _prepared(run: Run, grading: Grading, stand_in: Local) -> Recording:
    outcome = run.outcome
    case, variant = outcome.case, outcome.variant
    if case.trains:  # nobody is kept waiting for a training that nobody asked for
        return Recording(variant.dtype)
    rehearsal = _Rehearsal(stand_in)
    check = Check(grading, variant, Numbers(grading.seed, f"weights of {case.stream}"), rehearsal, run.number)
    check.judges = False
    result = Recording(variant.dtype, rehearsal.messages, check.exchanges)
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
