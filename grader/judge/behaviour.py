"""What an answer did in a case, and whether something else does the same there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from grader.judge.cases import CaseOutcome, again
from grader.judge.compare import agree
from grader.judge.failure import Failure, Satisfied
from grader.judge.grading import Grading
from grader.judge.lanes import Header, Local, Tensors
from grader.judge.observed import Cost, cost_of, tensor_nodes
from grader.judge.results import Exchange
from grader.sandbox.executor import RUN_BITS, AnswerError
from grader.sandbox.host import Reply
from grader.sandbox.observe import SIMULATED
from grader.sandbox.wire import Unpacker

COMPARABLE: Final = frozenset(("value", "built", "error", "missing"))


class Different(BaseException):
    """Something else was done than the answer did."""


def is_comparable(case: CaseOutcome) -> bool:
    """Whether all that the answer did in a case can be done again here."""
    check = case.check
    if case.variant.device not in ("cpu", SIMULATED) or case.case.trains:
        return False
    if check is None or not check.exchanges:
        return case.recall is not None
    settled = [exchange for exchange in check.exchanges if exchange.settled]
    return bool(settled) and all(exchange.reply["kind"] in COMPARABLE for exchange in settled)


def reproduces(grading: Grading, implementation: Known, case: CaseOutcome) -> bool:
    """Whether an implementation does, operation by operation, what the answer did in a case."""
    check = case.checked
    assert check is not None
    recorded = [exchange for exchange in check.exchanges if exchange.settled]
    if case.variant.cost and (case.failure is None or case.failure.kind == "cost"):
        return _costs_as_much(grading, implementation, case, recorded)
    replies = (
        implementation.remembered(grading.seed, recorded) if not check.looked else _replies(implementation, recorded)
    )
    return all(_same(*reply, exchange) for exchange, reply in zip(recorded, replies, strict=False))


class Known(Local):
    """A known mistake. What it does with inputs that do not depend on the answer is remembered for the next one."""

    def __init__(self, source: str, filename: str) -> None:
        super().__init__(source, filename)
        self.distance = 0.0
        """How far its cost was from that of the answer in the last case that fails by its cost."""
        self._seed = -1
        self._replies: dict[int, list[Reply]] = {}

    def remembered(self, seed: int, recorded: list[Exchange]) -> Iterator[Reply]:
        """Yield its replies to what was asked in one run, from memory where it was asked this before."""
        if seed != self._seed:
            self._seed = seed
            self._replies.clear()
        known = self._replies.setdefault(number_of(recorded[0]), [])
        yield from known
        for at, reply in enumerate(_replies(self, recorded) if len(known) < len(recorded) else ()):
            if at >= len(known):
                known.append(reply)
                yield reply


def number_of(exchange: Exchange) -> int:
    """Return the number of the run that an operation belongs to."""
    header = exchange.sent[0]
    number: int = header["handle"] if header["op"] == "build" else header["key"]
    return number >> RUN_BITS


def _replies(implementation: Local, recorded: list[Exchange]) -> Iterator[Reply]:
    return (request(implementation, *exchange.sent) for exchange in recorded)


def request(implementation: Local, header: Header, tensors: Tensors) -> Reply:
    """Do one operation as a sandbox would; what it raises is a reply."""
    try:
        return implementation.request(header, tensors)
    except AnswerError as error:
        return {"kind": "missing", "message": str(error)}, {}
    except Exception as error:  # noqa: BLE001 - a mistake may raise whatever an answer may
        bases = [f"{base.__module__}.{base.__qualname__}" for base in type(error).__mro__]
        return {"kind": "error", "type": type(error).__name__, "message": str(error), "bases": bases}, {}


class _Replay:
    """An implementation in the place of the answer, as long as it does the same."""

    def __init__(self, implementation: Local, recorded: list[Exchange]) -> None:
        self._implementation, self._recorded = implementation, recorded
        self._at = 0
        self.distance = 0.0

    def submit(self, header: Header, tensors: Tensors) -> Any:
        """Do one operation. Raises Different."""
        if self._at == len(self._recorded):
            raise Different
        recorded = self._recorded[self._at]
        self._at += 1
        reply = request(self._implementation, header, tensors)
        if not _same(*reply, recorded):
            raise Different
        self.distance += _distance(cost_of(reply[0]), recorded.cost)
        return reply

    def wait(self, asked: Any) -> Reply:
        """Return what was done already."""
        done: Reply = asked
        return done


def _costs_as_much(grading: Grading, implementation: Known, case: CaseOutcome, recorded: list[Exchange]) -> bool:
    """Counts need not be equal to the last multiplication: what must be the same is what the case says of them."""
    replay = _Replay(implementation, recorded)
    implementation.distance = math.inf
    try:
        again(case, grading, replay)
    except (Different, Satisfied):
        return False
    except Failure as failure:
        implementation.distance = replay.distance
        return case.failure is not None and failure.kind == case.failure.kind
    return case.failure is None


def _distance(mine: Cost | None, theirs: Cost | None) -> float:
    """Return how far two counts are apart, in factors."""
    if mine is None or theirs is None:
        return 0.0
    pairs = [(mine.calls, theirs.calls), (mine.madds, theirs.madds), (mine.elems, theirs.elems)]
    pairs.append((mine.biggest, theirs.biggest))
    return sum(abs(math.log((1 + one) / (1 + two))) for one, two in pairs)


def _same(reply: Header, tensors: Tensors, recorded: Exchange) -> bool:
    theirs = recorded.reply
    if reply["kind"] != theirs["kind"]:
        return False
    if reply["kind"] == "error":
        return _complaint(reply) == _complaint(theirs)
    if reply["kind"] == "built":
        return bool(reply["parameters"] == theirs.get("parameters"))
    if reply["kind"] != "value":
        return True
    tree = Unpacker(tensors)
    if sorted(reply["modified"]) != sorted(theirs.get("modified", [])) or not agree(
        tree.unpack(reply["value"]), recorded.value
    ):
        return False
    if _habits(reply) != _habits(theirs):
        return False
    grads = {name: tree.unpack(node) for name, node in reply.get("grads", [])}
    return all(agree(grads[name], grad) for name, grad in recorded.grads.items() if name in grads)


def _complaint(reply: Header) -> tuple[str, str]:
    """Return what an exception tells of its cause.

    Of what torch refuses the sizes, in its own words; of tensors on two devices the shape of the stranger. A sentence
    that a learner wrote is his own.
    """
    name, message = str(reply.get("type")), str(reply.get("message"))
    if name == "DeviceMixError":
        return name, message.partition(", shape ")[2].partition(", is on")[0]
    return name, message.partition("\n")[0] if name == "RuntimeError" else ""


def _habits(reply: Header) -> tuple[bool, list[str], list[Any]]:
    """Whether something forbidden was called, what was copied to the host, and where the results live."""
    given = reply.get("seen")
    seen = given if type(given) is dict else {}
    return (
        bool(seen.get("forbidden")),
        sorted({str(found[0]) for found in seen.get("traffic") or () if type(found) is list and found}),
        [node.get("device") for node in tensor_nodes(reply["value"])],
    )
