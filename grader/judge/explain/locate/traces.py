"""The steps of one call, of an answer as its sandbox tells them or of the reference, and what hangs on what."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final

import torch

from grader.judge.cases.check import Check
from grader.judge.exchange.results import Exchange
from grader.judge.failure import MOST_LINES, Failure
from grader.judge.verdict.expected import MALFORMED
from grader.judge.workers.backend import Header, Tensors
from grader.judge.workers.pending import MustResubmit, Reply
from grader.probes.lines import LONGEST, Passed
from grader.probes.steps import SOURCE, Recorder, Stands
from grader.probes.work import Place, Work
from grader.sandbox.named import MOST_SENT, MOST_WRITTEN, STEPS, WORK, telling
from grader.transport.wire import Unpacker

VIEWS: Final = frozenset(
    (
        *("view", "_unsafe_view", "reshape", "_reshape_alias", "t", "transpose", "permute", "unsqueeze", "squeeze"),
        *("expand", "slice", "select", "split", "split_with_sizes", "unbind", "detach", "alias", "as_strided"),
        *("flatten", "movedim", "narrow", "chunk", "unflatten", "diagonal"),
    )
)
"""Operations whose result shares its memory with what went in."""
MOVES: Final = VIEWS | {"clone", "contiguous", "_to_copy", "lift_fresh"}
"""Operations after which the same numbers lie somewhere else."""
NUMBERS: Final = torch.float64
Counted = Counter[Place]
BY_HAND: Final = ("_softmax", "_log_softmax")
"""Operations that many do by hand, in several."""
WITHIN: Final = "within"
"""In the place of an operation: what one of these comes to on its way."""
MOST_BEFORE: Final = 4
"""So many calls are looked through for who made what a later one reads."""
MOST_PLAYED: Final = 4000
NUMBERS_PER_OPERATION: Final = 4000
"""So many operations are done once more, for one call; one on so many numbers counts twice."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what made it, of what, and its numbers where they are known."""

    line: int
    operation: str
    reads: tuple[int, ...]
    dtype: str
    shape: tuple[int, ...]
    name: str
    cuts: bool
    writes: int
    value: torch.Tensor | None
    device: str = "cpu"
    at: int = -1
    """The number of the statement that ran, among those passed."""

    @property
    def is_source(self) -> bool:
        """Whether it was there before the call."""
        return self.operation == SOURCE

    @property
    def is_within(self) -> bool:
        """Whether it is no step of its own, but what one comes to on its way."""
        return self.operation == WITHIN

    @property
    def is_view(self) -> bool:
        """Whether it shares its memory with what it was made of."""
        return self.operation in VIEWS

    @property
    def moves(self) -> bool:
        """Whether it only puts numbers into another order."""
        return self.operation in MOVES


class _UnknownError(Exception):
    """The numbers of a step were not kept."""


class Playback:
    """Does the operations of the reference once more, with other numbers in a step."""

    def __init__(self, recorder: Recorder) -> None:
        self._steps, self._calls = recorder.steps, recorder.calls or {}
        self._left = MOST_PLAYED

    def refill(self) -> None:
        """Let as many operations be done once more as in the beginning."""
        self._left = MOST_PLAYED

    def again(self, goal: int, values: dict[int, torch.Tensor], *, in_place: bool = False) -> torch.Tensor | None:
        """Return what a step comes to where earlier ones hold these values; None where that cannot be told.

        ``in_place``: whether operations that write are done to copies, which whoever reads what is behind a view does
        not see: enough to tell that the same comes out, not to tell that something else does.
        """
        made = dict(values)
        for number in range(min(values) + 1, goal + 1):
            step = self._steps[number]
            if number in values or not made.keys() & set(step.reads):
                continue
            call = self._calls.get(number)
            self._left -= 1 + math.prod(step.shape) // NUMBERS_PER_OPERATION
            writes = call is not None and call.function._schema.is_mutable  # noqa: SLF001 - as torch asks itself
            if call is None or self._left < 0 or (writes and not in_place):
                return None
            try:
                args, kwargs = self._filled(call.args, made), self._filled(call.kwargs, made)
                result = call.function(*(_copied(args) if writes else args), **kwargs)
            except (_UnknownError, RuntimeError, IndexError, TypeError, ValueError):  # not with these numbers
                return None
            made[number] = result[call.place] if isinstance(result, (tuple, list)) else result
        return made.get(goal)

    def _filled(self, value: Any, made: dict[int, torch.Tensor]) -> Any:
        if isinstance(value, Stands):
            tensor = made[value.number] if value.number in made else self._steps[value.number].value
            if tensor is None:
                raise _UnknownError
            return tensor
        if isinstance(value, (tuple, list)):
            return type(value)(self._filled(item, made) for item in value)
        return {name: self._filled(item, made) for name, item in value.items()} if isinstance(value, dict) else value


def _copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args)


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps of a call, in order; ``raised``: whether it ended with an exception."""

    steps: tuple[Step, ...]
    raised: bool = False
    returned: int = 0
    """The line that handed back the result."""
    playback: Playback | None = None
    passed: tuple[Passed, ...] = ()
    result: Any = None
    """What the reference returned."""

    def behind(self, start: int, stop: Iterable[int]) -> tuple[set[int], set[int]]:
        """Return what a step was made of, back to the steps at which to stop; and those of them met."""
        stops, met = set(stop), set()
        found: set[int] = set()
        left = [start]
        while left:
            number = left.pop()
            if number in stops:
                met.add(number)
            elif number not in found:
                found.add(number)
                left.extend(self.steps[number].reads)
        return found, met


def of_answer(check: Check, exchange: Exchange, recorded: Header | None = None) -> Trace | None:
    """Have the answer make a call of a run once more, and the calls before it; None where it does not come to that."""
    try:
        return _read(*_again(check, exchange, {"op": STEPS, "recorded": recorded or {}}))
    except (Failure, MustResubmit, *MALFORMED):
        return None


def calls_before(check: Check, exchange: Exchange) -> list[Exchange]:
    """Return the calls of the same object before one of a run that may have left what it reads, the last one first."""
    handle, at = exchange.header["handle"], check.exchanges.index(exchange)
    own = [e for e in check.exchanges[:at] if handle is not None and e.header["handle"] == handle]
    return [e for e in own if e.settled and e.header["op"] == "call"][: -MOST_BEFORE - 1 : -1]


def _again(check: Check, exchange: Exchange, instead: Header) -> Reply:
    until = check.exchanges[: check.exchanges.index(exchange)]
    worker = check.grading.answer.worker(check.variant.family, device=check.variant.device)
    header, tensors = exchange.sent
    for other in until:
        worker.wait(worker.submit(*other.sent))
    return worker.wait(worker.submit(header | instead, tensors))


def work_of_answer(check: Check, exchange: Exchange) -> Counted | None:
    """Have the answer make a call once more; how often its lines ask for how much work."""
    try:
        reply, _tensors = _again(check, exchange, {"op": WORK})
        if reply["kind"] != WORK:
            return None
        counted: Counted = Counter()
        for lines, work, count in reply["counted"][:MOST_SENT]:
            if any(type(number) is not int or not 0 <= number < MOST_LINES for number in lines):
                return None
            counted[tuple(lines), int(work)] += int(count)
    except (Failure, MustResubmit, *MALFORMED):
        return None
    return counted


def work_of_reference(check: Check, exchange: Exchange) -> Counted | None:
    """Have the reference make a call; how often its lines ask for how much work."""
    work = Work(check.grading.reference.executor.filename)
    return work.counted if _asked_again(check, exchange, work) is not None else None


def _read(reply: Header, tensors: Tensors) -> Trace | None:
    """Read what a sandbox tells of the steps. Raises one of ``MALFORMED`` where that breaks the rules."""
    if reply["kind"] != STEPS:
        return None
    tree = Unpacker(tensors)
    steps: list[Step] = []
    for number, told in enumerate(_from_json(tree.unpack(reply["steps"]))[:MOST_SENT]):
        line, operation, reads, dtype, shape, name, cuts, writes, device, at, node = told
        if type(line) is not int or not 0 <= line < MOST_LINES or type(operation) is not str or type(name) is not str:
            raise ValueError
        if any(type(read) is not int or not 0 <= read < number for read in reads) or type(dtype) is not str:
            raise ValueError
        value = tree.unpack(node)
        if not isinstance(value, torch.Tensor):  # of a dtype that does not travel
            value = None
        sizes = tuple(int(size) for size in shape)
        if value is not None and tuple(value.shape) != sizes:
            raise ValueError
        into = writes if type(writes) is int and 0 <= writes < number else -1
        where = device if type(device) is str else ""
        ran = at if type(at) is int and 0 <= at < MOST_LINES else -1
        steps.append(Step(line, operation, tuple(reads), dtype, sizes, name, cuts is True, into, value, where, ran))
    returned = reply.get("returned")
    if type(returned) is not int or not 0 <= returned < MOST_LINES:
        raise ValueError
    passed = _statements(tree.unpack(reply["passed"]))
    return Trace(tuple(steps), raised=reply.get("raised") is True, returned=returned, passed=passed)


def _statements(told: Any) -> tuple[Passed, ...]:
    """Read which statements ran. Raises ValueError where that breaks the rules."""
    found: list[Passed] = []
    for frame, line, caller, made in _from_json(told):
        if any(type(number) is not int or number >= MOST_LINES for number in (frame, line, caller)):
            raise ValueError
        if frame <= 0 or line < 0 or not -1 <= caller < len(found) or type(made) is not dict:
            raise ValueError
        if any(type(text) is not str or len(text) > LONGEST for text in made.values()):
            raise ValueError
        found.append(Passed(frame, line, caller, made))
    return tuple(found)


def _from_json(told: Any) -> list[Any]:
    """Read what a sandbox tells as bytes of JSON. Raises ValueError where that breaks the rules."""
    if not isinstance(told, torch.Tensor) or told.dtype != torch.uint8 or told.numel() > MOST_WRITTEN:
        raise ValueError
    found = json.loads(bytes(told.flatten().tolist()))
    if type(found) is not list:
        raise ValueError
    return found


def of_reference(check: Check, exchange: Exchange) -> Trace | None:
    """Have the reference make a call of a run in float64; None where it raises."""
    recorder = Recorder(check.grading.reference.executor.filename, calls=True)
    asked = _asked_again(check, exchange, recorder)
    if asked is None:
        return None
    kept = set(telling(recorder.steps))
    steps = (
        Step(
            *(s.line, s.operation, tuple(s.reads), s.dtype, s.shape, s.name, s.cuts, s.writes),
            value=s.value if n in kept else None,
            at=s.at,
        )
        for n, s in enumerate(recorder.steps)
    )
    every = (*steps, *(one for number in recorder.calls or () for one in _within(recorder, number)))
    return Trace(every, playback=Playback(recorder), passed=tuple(recorder.lines.passed), result=asked[0])


def _within(recorder: Recorder, number: int) -> Iterator[Step]:
    """Yield what an operation of the reference comes to on its way, as whoever does it by hand has it: no steps."""
    step = recorder.steps[number]
    if step.operation not in BY_HAND or recorder.calls is None or len(step.reads) != 1:
        return
    value, args = recorder.steps[step.reads[0]].value, recorder.calls[number].args
    if value is None or not value.dim() or not value.numel() or value.dtype != NUMBERS or type(args[1]) is not int:
        return
    moved = value - value.amax(args[1], keepdim=True)
    for one in (moved, moved.exp(), moved.exp().sum(args[1], keepdim=True), value.exp(), value.logsumexp(args[1])):
        if bool(one.isfinite().any()):
            yield Step(0, WITHIN, (step.reads[0],), step.dtype, tuple(one.shape), "", cuts=False, writes=-1, value=one)


def _asked_again(check: Check, exchange: Exchange, looks_on: AbstractContextManager[Any]) -> tuple[Any, Any] | None:
    """Have the reference make a call while somebody looks on; None where it raises."""
    handle = exchange.header["handle"]
    at = check.exchanges.index(exchange)
    before = [e for e in check.exchanges[:at] if e.header["handle"] == handle and handle is not None]
    try:
        for other in before:
            refused = (Exception,) if other.reply["kind"] == "error" else ()  # as it should be, or the case had ended
            with suppress(*refused):
                if other.header["op"] == "build" or other.header.get("stateful"):
                    check.reference(other)
        with looks_on:
            return check.reference(replace(exchange, header=exchange.header | {"grad": False}))
    except Exception:  # noqa: BLE001 - then there is nothing to align with
        return None
    finally:
        check.grading.reference.release(check.handles)
