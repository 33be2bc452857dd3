"""Recording a run before there is an answer."""

from __future__ import annotations

from functools import partial
from typing import Any

from grader.judge.cases.check import Check
from grader.judge.cases.variant import Variant
from grader.judge.contract import Grading
from grader.judge.exchange.results import Exchange
from grader.judge.failure import Failure
from grader.judge.runs.lives import live, play
from grader.judge.runs.outcome import Run
from grader.judge.runs.recording import Recording
from grader.judge.tolerance import MEASURED, Moves
from grader.judge.verdict.expected import Expectation, expectation
from grader.judge.workers.backend import Header, Tensors, reply_of
from grader.judge.workers.pending import Asked, Reply
from grader.sandbox.executor import Executor
from grader.transport.operations import Message


class _Rehearsal:
    """Keeps what is asked; answers with the reference's own results where somebody looks."""

    def __init__(self, stand_in: Executor) -> None:
        self._stand_in = stand_in
        self.messages: list[Message] = []
        self._open: list[tuple[Header, Tensors]] = []
        self._replies: list[Reply] = []

    def submit(self, header: Header, tensors: Tensors) -> Asked:
        """Keep an operation; returns its number, in the place of an operation."""
        self.messages.append(Message(header, tensors))
        self._open.append((header, tensors))
        return len(self.messages) - 1  # type: ignore[return-value]

    def wait(self, asked: Any) -> Reply:
        """Do what was asked for up to this operation, on the CPU and unwatched."""
        while len(self._replies) <= asked:
            header, tensors = self._open.pop(0)
            self._replies.append(reply_of(self._stand_in, header | {"device": "cpu", "trace": None}, tensors))
        reply: Reply = self._replies[asked]
        return reply


def record(run: Run, grading: Grading, stand_in: Executor) -> Recording:
    """Run a case with the reference in the place of the answer, and keep what it asks for and expects."""
    outcome = run.outcome
    case, variant = outcome.case, outcome.variant
    if case.trains:  # nobody is kept waiting for a training that nobody asked for
        return Recording(variant.dtype)
    rehearsal = _Rehearsal(stand_in)
    check = live(outcome, grading, rehearsal, number=run.number, judges=False)
    result = Recording(variant.dtype, rehearsal.messages, check.exchanges)
    if variant.compares_values:
        result.agreements = check.agreements
    try:
        play(outcome, grading, check)
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


def _expected(exchange: Exchange, check: Check, variant: Variant) -> Expectation:
    if exchange.compared or exchange.header.get("stateful"):
        exchange.want, exchange.want_grads = check.reference(exchange)
    is_measured = exchange.compared and exchange.header["op"] == "call" and variant.dtype in MEASURED
    measure = partial(_measured, exchange, check) if is_measured else None
    return expectation(exchange, variant.dtype, exchange.header["device"], grad=variant.grad, measure=measure)


def _measured(exchange: Exchange, check: Check) -> Moves:
    """Measure how far the results of a call move, when a reply makes that matter; the run may be over by then."""
    try:
        exchange.moves = check.twin().moves(exchange)
    finally:
        check.grading.reference.release(check.handles)
    return exchange.moves
