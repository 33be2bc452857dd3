"""A grading that is prepared before there is an answer: what will be asked, and what a passing answer replies.

Inputs and the reference's results do not depend on the answer, so they can be made while the learner is still typing.
Each case is run against the reference in the place of the answer; what it asks for is kept as ready messages. A case
that looks at results while it runs is run again when they are in; for any other the expectations decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from grader.judge.arguments import lives_on_a_device
from grader.judge.cases import Case, Run, planned, variants_of
from grader.judge.check import Check, Variant, expected_gradients
from grader.judge.entries import missing_parameters
from grader.judge.expected import Expectation
from grader.judge.failure import Failure
from grader.judge.grading import Grading
from grader.judge.lanes import Asked, Header, Lane, Local, Tensors
from grader.judge.numbers import Numbers
from grader.judge.results import Exchange, Result
from grader.sandbox.executor import AnswerError
from grader.sandbox.host import Lost, Reply, Ticket
from grader.sandbox.wire import Message, Tree

ONE_OF_A_KIND: Final = {("device", ""), ("dtype", "bfloat16")}
"""Where a tensor lives and which dtype it has does not depend on its numbers; rounding shows most in the largest."""


@dataclass
class Prepared:
    """What one run of a case asks for, and what is known about the replies."""

    dtype: torch.dtype
    messages: list[Message] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    expected: list[Expectation | None] = field(default_factory=list)
    at_a_glance: bool = False
    """Whether the expectations alone may accept the run."""
    represented_by: int = -1
    """The run that is like this one but for numbers and sizes, and is larger; -1 for none. See :func:`kind_of`."""

    def met(self, tickets: list[Ticket]) -> bool:
        """Whether all replies, which are in, are those of a passing answer."""
        for exchange, expected, ticket in zip(self.exchanges, self.expected, tickets, strict=True):
            assert ticket.reply is not None
            if expected is None:
                if ticket.reply["kind"] != "built":
                    return False
                if exchange.header["wants_module"] and missing_parameters(ticket.reply, exchange.trees["state"]):
                    return False
            elif not expected.met(ticket.reply, ticket.payload):
                return False
        return True

    def wanted(self, index: int, carries: list[bool] | None) -> tuple[Tree, dict[str, Any]] | None:
        """Return what the reference returned for a call; None where it is not known (see `Twin`)."""
        if not self.at_a_glance or index >= len(self.exchanges) or (carries is not None and not all(carries)):
            return None
        return self.exchanges[index].want, self.exchanges[index].want_grads


class Plan:
    """All runs of a kata's cases with the inputs of one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.runs: list[Prepared] = []

    def steps(self, grading: Grading, cases: list[Case]) -> Iterator[None]:
        """Prepare run after run; the caller may stop in between."""
        stand_in = Local(grading.reference_text, "reference.py")
        runs = runs_of(cases, grading.kata.families)
        for run in runs:
            self.runs.append(_prepared(run, grading, stand_in))
            yield
        self._find_representatives(runs)

    def _find_representatives(self, runs: list[Run]) -> None:
        """Let one run stand for those of its kind, where what the family looks for is the same in all of them."""
        kinds: dict[Any, list[int]] = {}
        for index, (run, ready) in enumerate(zip(runs, self.runs, strict=True)):
            variant = run.outcome.variant
            if ready.at_a_glance and (variant.family, variant.label) in ONE_OF_A_KIND:
                kinds.setdefault((variant.family, variant.label, *map(kind_of, ready.exchanges)), []).append(index)
        for members in kinds.values():
            largest = max(members, key=lambda index: sum(e.size for e in self.runs[index].exchanges))
            for index in members:
                if index != largest:
                    self.runs[index].represented_by = largest


def kind_of(exchange: Exchange) -> Any:
    """Return what two operations have in common that differ in numbers and sizes alone.

    Which arguments there are, their types and layouts, and which sizes are equal, 0 or 1.
    """
    sizes: dict[int, int] = {0: 0, 1: 1}

    def size(number: int) -> int:
        return sizes.setdefault(number, len(sizes))

    def walk(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            strides = sorted(range(value.dim()), key=value.stride, reverse=True)
            return (value.dtype, tuple(map(size, value.shape)), tuple(strides), 0 in value.stride())
        if isinstance(value, Result):
            return ("returned", value.mine.path)
        if isinstance(value, (tuple, list)):
            return (type(value), *map(walk, value))
        if isinstance(value, dict):
            return tuple((key, walk(item)) for key, item in value.items())
        return size(value) if type(value) is int else repr(value)

    header = exchange.header
    called = (header["op"], header["entry"], header.get("method"), header["train"])
    return (*called, walk(exchange.trees["args"]), walk(exchange.trees["kwargs"]))


class Replies:
    """Gives a run of a case the replies that are in already; where it asks for something else, all is lost."""

    def __init__(self, lane: Lane, prepared: Prepared, tickets: list[Ticket]) -> None:
        self._lane, self._messages, self._tickets = lane, prepared.messages, tickets
        self._at = 0

    def submit(self, header: Header, tensors: Tensors) -> Ticket:
        """Return the operation that was asked for ahead. Raises Lost where it was another one."""
        at = self._at
        self._at += 1
        if at >= len(self._tickets) or self._messages[at] != Message.of(header, tensors):
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
        self.messages.append(Message.of(header, tensors))
        self._open.append((header, tensors))
        return len(self.messages) - 1  # type: ignore[return-value]

    def wait(self, asked: Any) -> Reply:
        """Do what was asked for up to this operation, on the CPU and unwatched."""
        while len(self._replies) <= asked:
            header, tensors = self._open.pop(0)
            self._replies.append(self._do(header | {"device": "cpu", "trace": None}, tensors))
        reply: Reply = self._replies[asked]
        return reply

    def _do(self, header: Header, tensors: Tensors) -> Reply:
        try:
            return self._stand_in.request(header, tensors)
        except AnswerError as error:
            return {"kind": "missing", "message": str(error)}, {}
        except Exception as error:  # noqa: BLE001 - where the case expects an error, the reference raises it
            bases = [f"{base.__module__}.{base.__qualname__}" for base in type(error).__mro__]
            return {"kind": "error", "type": type(error).__name__, "message": str(error), "bases": bases}, {}


def runs_of(cases: list[Case], families: tuple[str, ...], device: str = "") -> list[Run]:
    """Return the runs that give all outcomes of these cases, numbered."""
    runs = [run for case in cases for run in planned(case, variants_of(case, families, device))]
    for number, run in enumerate(runs, 1):
        run.number = number
    return runs


def _prepared(run: Run, grading: Grading, stand_in: Local) -> Prepared:
    outcome = run.outcome
    case, variant = outcome.case, outcome.variant
    rehearsal = _Rehearsal(stand_in)
    check = Check(grading, variant, Numbers(grading.seed, f"weights of {case.stream}"), rehearsal, run.number)
    check.judges = False
    try:
        case.function(check, Numbers(grading.seed, case.stream))
        if not check.looked:
            check.build_the_rest()
    except Failure:
        check.looked = True  # by bad luck of these inputs, or because the reference is no answer here (cost)
    result = Prepared(variant.dtype, rehearsal.messages, check.exchanges)
    if not (check.looked or variant.cost) and all(exchange.compared for exchange in check.exchanges):
        result.expected = [_expected(exchange, check, variant) for exchange in check.exchanges]
        result.at_a_glance = True
    grading.reference.release(check.handles)
    return result


def _expected(exchange: Exchange, check: Check, variant: Variant) -> Expectation | None:
    exchange.want, exchange.want_grads = check.reference(exchange)
    if exchange.header["op"] == "build":
        return None
    on_device = exchange.header["handle"] is not None or any(map(lives_on_a_device, exchange.trees.values()))
    device = variant.device if on_device and variant.device != "cpu" else ""
    grads = expected_gradients(exchange) if variant.grad else {}
    return Expectation(exchange.want, grads, variant.dtype, device, grad=variant.grad)
