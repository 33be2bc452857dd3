"""Replies that are accepted at a glance are those that the long comparison accepts, infinities among them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.judge.exchange.compare import compare
from grader.judge.exchange.results import Agreement
from grader.judge.verdict.expected import Expectation, expectation, value_of
from grader.sandbox.values import Snapshot
from grader.transport.operations import Payload, read_once
from grader.transport.wire import save
from tests.judge.runs import exchange_of

INF = float("inf")
WANT = torch.tensor([[1.0, -INF, 2.0], [-INF, -3.0, INF]], dtype=torch.float64)


def of_a_call(want: Any = None, device: str = "cpu", *, compared: bool = True) -> Expectation:
    """Return what is expected of a call with a tensor, of which the reference returns this."""
    exchange = exchange_of(torch.zeros(2))
    exchange.want, exchange.compared = want, compared
    return expectation(exchange, torch.float32, device, grad=False)


def accepted(got: torch.Tensor) -> bool:
    """Whether a reply with this result is accepted at a glance."""
    snapshot = Snapshot()
    reply = {"kind": "value", "value": snapshot.tree(got), "seen": {}, "modified": []}
    return of_a_call(WANT).met(reply, read_once(save(snapshot.tensors)))


def changed(place: tuple[int, int], value: float) -> torch.Tensor:
    """Return the result in float32 with another value in one place."""
    tensor = WANT.float()
    tensor[place] = value
    return tensor


def test_the_result_itself() -> None:
    """Infinities stand where they must, the rest is near."""
    assert accepted(WANT.float())
    assert accepted(changed((0, 0), 1.0 + 1e-6))
    assert compare(changed((0, 0), 1.0 + 1e-6), WANT, torch.float32) is None


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *(((0, 1), 0.5), ((0, 1), -1e30), ((0, 1), INF), ((0, 1), float("nan"))),
        *(((0, 0), -INF), ((0, 0), 1.1), ((0, 0), float("nan")), ((1, 2), -INF)),
    ],
)
def test_another_result(place: tuple[int, int], value: float) -> None:
    """A number in the place of an infinity, an infinity in the place of a number, the other infinity, NaN."""
    assert not accepted(changed(place, value))
    assert compare(changed(place, value), WANT, torch.float32) is not None


def reply_with(got: torch.Tensor, **more: Any) -> tuple[dict[str, Any], Payload]:
    """Return a reply with this result, and its payload."""
    snapshot = Snapshot()
    reply = {"kind": "value", "value": snapshot.tree(got), "seen": {}, "modified": []} | more
    return reply, read_once(save(snapshot.tensors))


def test_a_result_that_is_not_compared() -> None:
    """Any numbers will do, but nothing else may be amiss."""
    anything = torch.tensor([1.0, 2.0])
    expected = of_a_call(compared=False)
    assert expected.met(*reply_with(anything))
    assert not of_a_call(device="sim", compared=False).met(*reply_with(anything))
    assert not expected.met(*reply_with(anything, modified=["x"]))
    assert not expected.met(*reply_with(anything, seen={"forbidden": [["torch.softmax", 3]]}))
    assert not expected.met(*reply_with(anything, kind="error"))
    reply, payload = reply_with(anything)
    assert not expected.met(reply, dict)
    reply["value"]["device"] = "sim:0"
    assert of_a_call(device="sim", compared=False).met(reply, payload)


@pytest.mark.parametrize(
    "parameters", [[], [["w", [3, 2]]], [["w", [2, 3]], ["b", [2]]][::-1][:1], [["w", "23"]], None, [["w", [2, 3, 1]]]]
)
def test_a_module_is_looked_at_again_when_it_differs_from_the_last_one(parameters: Any) -> None:
    """What was accepted once is accepted at once, anything else is looked at."""
    exchange = exchange_of(state={"w": torch.zeros(2, 3)})
    exchange.header |= {"op": "build", "wants_module": True}
    built = expectation(exchange, torch.float32, "cpu", grad=False)
    good = {"kind": "built", "parameters": [["w", [2, 3]]]}
    assert built.met(good, dict)
    assert built.met(dict(good), dict)
    assert not built.met({"kind": "built", "parameters": parameters}, dict)
    assert not built.met({"kind": "error"}, dict)
    assert built.met(good, dict)


@pytest.mark.parametrize(("exact", "moved", "holds"), [(True, 0.0, True), (True, 1e-7, False), (False, 1e-7, True)])
def test_two_results_that_agree(exact: bool, moved: float, holds: bool) -> None:
    """Bit for bit, or within the tolerance of their dtype; also a part of a result."""
    first, second = torch.tensor([1.0, float("nan")]), torch.tensor([1.0 + moved, float("nan")])
    values = [value_of(*reply_with(first)), (None, value_of(*reply_with(second)))]
    assert Agreement((0, ()), (1, (1,)), exact, "", 2).holds(values.__getitem__) == holds


@pytest.mark.parametrize(("want", "can"), [(WANT, True), ((WANT, 3, None), True), (0.5, False), ([WANT, [0.5]], False)])
def test_what_no_reply_can_be_at_a_glance(want: Any, can: bool) -> None:
    """Plain floats are judged in the long way: a glance says nothing of who passes."""
    assert of_a_call(want).can_be_met is can
