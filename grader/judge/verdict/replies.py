"""What is read from the reply to one operation, and what it must hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader.judge.exchange import compare as comparison
from grader.judge.exchange.arguments import device_of_results, expected_gradients, is_left_to_default
from grader.judge.exchange.observed import device_failure
from grader.judge.exchange.results import Agreement, Exchange
from grader.judge.exchange.seen import cost_of
from grader.judge.failure import Failure, tampering, unreadable
from grader.judge.tolerance import MEASURED, SMALLEST_SCALE, TABLE, Moves, unmeasured
from grader.judge.verdict.expected import MALFORMED
from grader.judge.verdict.parameters import missing_parameters
from grader.judge.workers.backend import Backend
from grader.language import _
from grader.text import clean
from grader.transport.wire import Unpacker, WireError, strings


def receive(exchange: Exchange, backend: Backend) -> None:
    """Wait for the reply and take it apart.

    Raises Failure where it cannot be read, MustResubmit where none will come.
    """
    assert exchange.asked is not None
    exchange.settled = True
    exchange.reply, tensors = backend.wait(exchange.asked)
    found = tampering(exchange.reply)
    if found is not None:
        raise found
    if exchange.reply["kind"] != "value":
        return
    try:
        tree = Unpacker(tensors)
        exchange.value = tree.unpack(exchange.reply["value"])
        exchange.grads = {name: tree.unpack(node) for name, node in exchange.reply.get("grads", [])}
        exchange.cost = cost_of(exchange.reply)
        strings(exchange.reply.get("modified", []))
    except (WireError, KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        exchange.reply = {"kind": "unreadable"}  # nobody shall try again
        raise unreadable(str(error) if isinstance(error, WireError) else "a malformed reply") from None


def module_failure(exchange: Exchange) -> Failure | None:
    """Return what the reply tells to be wrong with a module that was built: its parameters are not the contract's."""
    return missing_parameters(exchange.reply, exchange.trees["state"]) if exchange.header["wants_module"] else None


def misplaced(exchange: Exchange, device: str) -> Failure | None:
    """Return the failure for a result that is not where it must be in a variant on this device, or for traffic."""
    by_default = is_left_to_default(exchange)
    return device_failure(exchange.reply, device_of_results(exchange, device), exchange.names, by_default=by_default)


def agreed(agreement: Agreement, exchanges: list[Exchange]) -> bool:
    """Whether two results agree. Raises Failure where one of them has not the part that is looked at."""
    try:
        return agreement.holds(lambda index: exchanges[index].value)
    except MALFORMED as error:
        raise misfit(exchanges[: agreement.after], error) from None


def misfit(exchanges: list[Exchange], error: Exception) -> Failure:
    """Return the failure for a result that a case has looked at and cannot do anything with."""
    seen = [exchange for exchange in exchanges if exchange.settled and exchange.header["op"] == "call"]
    last = seen[-1] if seen else exchanges[-1]
    said = _("your code returned {what}, which does not fit here: {problem}")
    said = said.format(what=comparison.in_brief(last.value), problem=clean(str(error)).partition("\n")[0])
    return Failure("structure", said, call=last.call, size=last.size)


def judge_numbers(exchange: Exchange, dtype: torch.dtype, measure: Callable[[], Moves], *, grad: bool) -> None:
    """Compare what a call returned, and its gradients. Raises the first Failure.

    How far correct computations may be apart is measured where that matters: not for what is within rounding.
    """
    try:
        known = exchange.moves or (unmeasured(exchange.want_grads) if dtype in MEASURED else TABLE)
        _compare(exchange, dtype, known, grad=grad)
    except Failure as failure:
        if exchange.moves is not None or failure.tolerance is None or failure.tolerance.origin == "table":
            raise
        exchange.moves = measure()
        _compare(exchange, dtype, exchange.moves, grad=grad)


def _compare(exchange: Exchange, dtype: torch.dtype, moves: Moves, *, grad: bool) -> None:
    failure = comparison.compare(exchange.value, exchange.want, dtype, exchange.names, moves.results)
    if failure is not None:
        raise failure
    if grad:
        compare_gradients(exchange.grads, expected_gradients(exchange), dtype, moves)


def compare_gradients(
    grads: dict[str, Any], expected: dict[str, Any], dtype: torch.dtype, moves: Moves = TABLE
) -> None:
    """Compare gradients by name. Raises the first Failure."""
    for name, reference in expected.items():
        mine = grads.get(name)
        if mine is None:
            if reference is not None and reference.numel() and float(reference.abs().max()) > SMALLEST_SCALE * 1e-6:
                sentence = _(
                    "no gradient reaches {name}: the result is cut off from it (detached, rebuilt, a constant)"
                )
                raise Failure("no-gradient", sentence.format(name=name))
            continue
        wanted = torch.zeros_like(mine, dtype=torch.float64) if reference is None else reference
        label = _("gradient of {name}").format(name=name)
        failure = comparison.compare_gradient(mine, wanted, dtype, label, moves.of(name))
        if failure is not None:
            failure.kind = f"gradient-{failure.kind}"
            raise failure


def named(errors: tuple[type[BaseException], ...]) -> str:
    """Return how these errors are named in a sentence."""
    return _(" or ").join(error.__name__ for error in errors)


def nothing_raised(errors: tuple[type[BaseException], ...]) -> str:
    """Return the sentence for a call that should have raised one of these."""
    return _("expected {expected}, but nothing was raised").format(expected=named(errors))
