"""What can be said about a wrong result when no known mistake explains it: facts about its structure.

A fact is stated only where it holds for every failing call that was looked at, and where it does not hold for the
reference. Facts that need another call ask the answer once more, with one thing changed in the inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, Final

import torch

from grader.judge.cases.case import DERIVED_FROM
from grader.judge.cases.check import Check
from grader.judge.exchange.arguments import cast
from grader.judge.exchange.compare import agree
from grader.judge.exchange.results import Exchange
from grader.judge.failure import Failure
from grader.judge.runs.outcome import CaseOutcome, failed_after
from grader.judge.workers.pending import MustResubmit
from grader.language import _, marked
from grader.transport.operations import Message
from grader.transport.wire import Packer, Unpacker, WireError, tensors_in

MOST_CALLS: Final = 4
PACKED: Final = "cu_seqlens"
"""The argument of those whose first axis is no batch."""
SENSITIVE: Final = 3.0


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is true of the answer and not of the reference."""

    id: str
    sentence: str

    def document(self) -> dict[str, Any]:
        """Return the entry of the report."""
        return {"id": self.id, "explain": self.sentence}


CANNOT_TELL: Final = Fact("", "")
"""A call is too small for something to be seen in it."""
Pair = tuple[str, torch.Tensor, torch.Tensor]
"""The name of a result, what came, and what was expected, both in float64."""


def facts(outcomes: list[CaseOutcome]) -> list[Fact]:
    """Return what holds for the results of the failing cases, the most telling first."""
    failing = [c for c in outcomes if c.family in DERIVED_FROM and c.failure is not None and c.failure.kind in _KINDS]
    calls = [call for case in failing if (call := _wrong_call(case)) is not None]
    calls = sorted(calls, key=lambda call: -call[1].size)[:MOST_CALLS]  # in small tensors much holds by chance
    if not calls:
        return []
    found = [fact for look in _LOOKS if (fact := _in_all(look, [_pairs(exchange) for _check, exchange in calls]))]
    if not found:
        found = [fact for try_out in _TRIALS if (fact := _tried(try_out, calls))]
    return found[:2]


_KINDS: Final = ("value", "nan", "shape")


def _wrong_call(case: CaseOutcome) -> tuple[Check, Exchange] | None:
    check = case.check
    if check is None:
        return None
    settled = failed_after(case)
    wrong = settled[-1] if settled else None
    return (check, wrong) if wrong is not None and wrong.want is not None and _pairs(wrong) else None


def _pairs(exchange: Exchange) -> list[Pair]:
    """Return the float results of a call that differ from what was expected."""
    got, want = list(tensors_in(exchange.value)), list(tensors_in(exchange.want))
    names = exchange.names if len(exchange.names) == len(want) else [""] * len(want)
    if len(got) != len(want):
        return []
    pairs = [
        (name, g.double(), w.double()) for name, g, w in zip(names, got, want, strict=True) if w.is_floating_point()
    ]
    return [(name, g, w) for name, g, w in pairs if g.shape != w.shape or not agree(g, w)]


def _in_all(look: Callable[[list[Pair]], Fact | None], calls: list[list[Pair]]) -> Fact | None:
    """Return a fact that holds in every call that can tell."""
    found = [fact for pairs in calls if (fact := look(pairs)) is not CANNOT_TELL]
    first = found[0] if found else None
    return first if first and all(fact is not None and fact.id == first.id for fact in found) else None


# --- facts that the results tell --------------------------------------------------------------------------------


def _transposed(pairs: list[Pair]) -> Fact | None:
    name, got, want = pairs[0]
    for one, two in combinations(range(want.dim()), 2):
        turned = want.transpose(one, two)
        if turned.shape == got.shape and agree(got, turned.contiguous()):
            sentence = _("{label} has the right numbers with axes {one} and {two} exchanged.")
            return Fact("transposed", sentence.format(label=_label(name), one=one, two=two))
    return None


def _scaled(pairs: list[Pair]) -> Fact | None:
    name, got, want = pairs[0]
    if want.numel() == 1:  # one number is always another one times something
        return CANNOT_TELL
    norm = float((want * want).sum()) if got.shape == want.shape else 0.0
    factor = float((got * want).sum()) / norm if norm else 1.0
    if not math.isfinite(factor) or abs(factor - 1) < 1e-3 or abs(factor) < 1e-6 or not agree(got, factor * want):
        return None
    sentence = _("{label} is the right result times a constant, here {factor:.4g}.")
    return Fact("scaled", sentence.format(label=_label(name), factor=factor))


def _shifted(pairs: list[Pair]) -> Fact | None:
    name, got, want = pairs[0]
    if got.shape != want.shape:
        return None
    for axis in range(want.dim()):
        size = want.shape[axis] - 1
        if size < SENSITIVE - 1:
            continue
        for step, there, here in ((1, 0, 1), (-1, 1, 0)):
            if agree(got.narrow(axis, here, size), want.narrow(axis, there, size)):
                sentence = _("{label} is the right result moved by {step:+d} along axis {axis}: off by one position.")
                return Fact("shifted", sentence.format(label=_label(name), step=step, axis=axis))
    return CANNOT_TELL if any(1 < size < SENSITIVE for size in want.shape) else None


def _rows(pairs: list[Pair]) -> Fact | None:
    for name, got, want in pairs:
        if name != "weights" or got.shape != want.shape or not bool(torch.isfinite(got).all()):
            continue
        expected = want.sum(-1)
        if agree(got.sum(-1), expected):
            continue
        for axis in range(got.dim() - 1):
            sums = got.sum(axis)
            if agree(sums, torch.ones_like(sums)):
                sentence = _("the weights sum to 1 over axis {axis}, not over the keys: a softmax over the wrong axis.")
                return Fact("rows-wrong-axis", sentence.format(axis=axis - got.dim()))
        off = (got.sum(-1) - expected).abs()
        worst, should = got.sum(-1)[off == off.max()][0], expected[off == off.max()][0]
        if float(should) == 0.0:
            sentence = _("the weights of a query that sees nothing should all be 0: of one they sum to {total:.4g}.")
            return Fact("rows", sentence.format(total=float(worst)))
        sentence = _("the rows of the weights do not sum to 1: one sums to {total:.4g}.")
        return Fact("rows", sentence.format(total=float(worst)))
    return None


def _uniform(pairs: list[Pair]) -> Fact | None:
    for name, got, want in pairs:
        if name != "weights" or got.shape != want.shape or got.shape[-1] == 1:
            continue
        if _is_uniform(got) and not _is_uniform(want):
            return Fact("uniform", _("every visible key has the same weight: the output is a mean of the values."))
    return None


def _is_uniform(weights: torch.Tensor) -> bool:
    """Whether what is not zero in a row is the same throughout the row."""
    flat = weights.amax(-1, keepdim=True).expand_as(weights)
    return agree(weights, torch.where(weights == 0, weights, flat))


def _same_heads(pairs: list[Pair]) -> Fact | None:
    for name, got, want in pairs:
        if name == "weights" and got.dim() == 4 and got.shape == want.shape and got.shape[1] > 1:
            first = got[:, :1].expand_as(got)
            if agree(got, first) and not agree(want, want[:, :1].expand_as(want)):
                return Fact("same-heads", _("all heads have the same weights."))
    return None


def _same_queries(pairs: list[Pair]) -> Fact | None:
    name, got, want = pairs[0]
    if got.shape != want.shape or got.dim() < 2 or got.shape[-2] < 2:
        return None
    if agree(got, got[..., :1, :].expand_as(got)) and not agree(want, want[..., :1, :].expand_as(want)):
        sentence = _("{label} is the same in every row: the queries have no influence on it.")
        return Fact("same-queries", sentence.format(label=_label(name)))
    return None


_LOOKS: Final = (_uniform, _rows, _same_heads, _transposed, _scaled, _shifted, _same_queries)


# --- facts that another call tells ------------------------------------------------------------------------------------


Change = Callable[[Exchange], tuple[list[Any], Callable[[torch.Tensor], torch.Tensor]] | None]
"""Changes the arguments of a call; with them, what picks from a result the part that must stay as it was."""


def _other_sequences(exchange: Exchange) -> tuple[list[Any], Callable[[torch.Tensor], torch.Tensor]] | None:
    args = list(exchange.trees["args"])
    batch = args[0].shape[0] if args and _is_batch(args[0]) else 0
    if batch < 2 or any(_is_batch(arg) and arg.shape[0] != batch for arg in args):
        return None
    changed = [torch.cat([arg[:-1], SENSITIVE * arg[-1:] + 1]) if _is_batch(arg) else arg for arg in args]
    return changed, lambda result: result[:-1] if result.dim() and result.shape[0] == batch else result.new_empty(0)


def _later_positions(exchange: Exchange) -> tuple[list[Any], Callable[[torch.Tensor], torch.Tensor]] | None:
    args = list(exchange.trees["args"])
    if not args or not _is_batch(args[0]) or args[0].shape[1] < 2:
        return None
    length = args[0].shape[1]
    x = torch.cat([args[0][:, :-1], SENSITIVE * args[0][:, -1:] + 1], dim=1)
    changed = [x if arg is args[0] else arg for arg in args]
    return (
        changed,
        lambda result: result[:, :-1] if result.dim() == 3 and result.shape[1] == length else result.new_empty(0),
    )


def _keys_in_another_order(exchange: Exchange) -> tuple[list[Any], Callable[[torch.Tensor], torch.Tensor]] | None:
    args, given = list(exchange.trees["args"]), exchange.trees["kwargs"]
    tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
    if len(tensors) != len(args) or len(args) != 3 or given or min(arg.dim() for arg in tensors) < 2:
        return None
    queries, keys, values = tensors
    if keys.shape[-2] != values.shape[-2] or keys.shape[-2] < 2:
        return None
    return [queries, keys.flip(-2), values.flip(-2)], lambda result: result


def _is_batch(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.dim() == 3


_TRIALS: Final[tuple[tuple[str, str, Change], ...]] = (
    ("batch", marked("a sequence of the batch changes the result of another one."), _other_sequences),
    ("future", marked("a later position changes the result of an earlier one."), _later_positions),
    ("order", marked("the order of the keys, with their values, changes the result."), _keys_in_another_order),
)


def _tried(trial: tuple[str, str, Change], calls: list[tuple[Check, Exchange]]) -> Fact | None:
    name, sentence, change = trial
    for check, exchange in calls:
        changed = change(exchange) if PACKED not in exchange.header["names"] else None
        if changed is None or check.variant.device != "cpu":
            continue
        args, kept = changed
        mine, reference = _again(check, exchange, args), _reference(check, exchange, args)
        if mine is None or reference is None or not _keeps_something(exchange.want, kept):
            continue
        if _moves(exchange.value, mine, kept) and not _moves(exchange.want, reference, kept):
            return Fact(name, _(sentence))
    return None


def _keeps_something(result: Any, kept: Callable[[torch.Tensor], torch.Tensor]) -> bool:
    """Whether the reference's result has a part that must stay as it was."""
    return any(kept(leaf).numel() for leaf in islice(tensors_in(result), 1))


def _moves(before: Any, after: Any, kept: Callable[[torch.Tensor], torch.Tensor]) -> bool:
    """Whether what must stay as it was does not."""
    pairs = islice(zip(tensors_in(before), tensors_in(after), strict=False), 1)
    return any(not agree(kept(one).double(), kept(two).double()) for one, two in pairs)


def _again(check: Check, exchange: Exchange, args: list[Any]) -> Any:
    """Ask the answer for the same with other arguments; None where it does not come to that."""
    until = check.exchanges[: check.exchanges.index(exchange)]
    header, _tensors = exchange.sent
    packer = Packer()
    worker = check.grading.answer.worker(check.variant.family, device=check.variant.device)
    try:
        for other in until:
            worker.wait(worker.submit(*other.sent))
        kwargs = Unpacker(_tensors).unpack(header["kwargs"])
        given = tuple(cast(args, check.variant.dtype))
        trees = {"args": packer.pack(given), "kwargs": packer.pack(kwargs)}
        reply, tensors = worker.wait(worker.send(Message(header | trees, packer.tensors)))
        return Unpacker(tensors).unpack(reply["value"]) if reply["kind"] == "value" else None
    except (Failure, MustResubmit, WireError, KeyError, TypeError, ValueError):
        return None


def _reference(check: Check, exchange: Exchange, args: list[Any]) -> Any:
    reference, header = check.grading.reference, exchange.header
    builds = [e for e in check.exchanges if e.header["op"] == "build" and e.header["handle"] == header["handle"]]
    try:
        for build in builds[-1:]:
            check.reference(build)
        kwargs = {name: v.double() if _is_batch(v) else v for name, v in exchange.trees["kwargs"].items()}
        return reference.call(header, tuple(args), kwargs, None)[0]
    except Exception:  # noqa: BLE001 - then there is nothing to compare with
        return None
    finally:
        reference.release(check.handles)


def _label(name: str) -> str:
    return f"`{name}`" if name else _("the result")
