"""A run that is recorded before there is an answer: its operations, and what is expected of each reply."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch

from grader.judge.cases.variant import Wanted
from grader.judge.exchange.results import Agreement, Exchange
from grader.judge.verdict.expected import MALFORMED, Expectation, value_of
from grader.judge.workers.backend import Header
from grader.judge.workers.pending import Pending
from grader.transport.operations import Message, Payload


@dataclass
class Recording:
    """What one run of a case asks for, and what is known about the replies."""

    variant_dtype: torch.dtype
    messages: list[Message] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    expected: list[Expectation] = field(default_factory=list)
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

    @property
    def can_be_met(self) -> bool:
        """Whether its replies alone can tell that an answer passes; else only the case itself can."""
        return self.is_straight and all(expected.can_be_met for expected in self.expected)

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

    def asked_with(self, operations: list[Pending]) -> list[Exchange]:
        """Return the exchanges of a straight run, asked with these operations and not yet judged."""
        asked = [Exchange(e.header, e.trees, e.call, e.names, e.compared, e.key, e.size) for e in self.exchanges]
        for exchange, prepared, operation in zip(asked, self.exchanges, operations, strict=True):
            exchange.sent, exchange.asked = prepared.sent, operation
        return asked

    def wanted(self, index: int, carries: list[bool] | None) -> Wanted | None:
        """Return what the reference returned for a call; None where it is not known (see `KnownResults`)."""
        if not self.is_known or index >= len(self.exchanges) or (carries is not None and not all(carries)):
            return None
        exchange = self.exchanges[index]
        return (exchange.want, exchange.want_grads, exchange.moves) if exchange.compared else None
