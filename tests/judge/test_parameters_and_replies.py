"""What a reply must hold: the parameters of a module, gradients by name, results on their device, errors by name."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.judge.exchange.arguments import device_of_results, expected_gradients
from grader.judge.exchange.results import Agreement, Result, at
from grader.judge.failure import Failure
from grader.judge.verdict.parameters import missing_parameters, not_learned
from grader.judge.verdict.replies import (
    agreed,
    compare_gradients,
    misfit,
    module_failure,
    named,
    nothing_raised,
    receive,
)
from tests.judge.runs import exchange_of

STATE = {"first.weight": torch.zeros(2, 3), "first.bias": torch.zeros(2)}
OWN = [["first.weight", [2, 3]], ["first.bias", [2]]]


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        (OWN, None),
        ([*OWN, ["second.weight", [9]]], None),
        (OWN[:1], "no parameter first.bias"),
        ([["other.weight", [2, 3]]], "no layer first; its own are: other"),
        ([], "none at all"),
        ([["first.weight", [3, 2]], OWN[1]], "has shape (3, 2), expected (2, 3)"),
        ([*OWN, ["first.scale", [2]]], "has a parameter first.scale"),
        (None, "malformed"),
        ([["first.weight", [2.0, 3]]], "malformed"),
        ([["first.weight", [True, 3]]], "malformed"),
        ([["first.weight"]], "malformed"),
        (7, "malformed"),
    ],
)
def test_a_module_has_the_parameters_of_the_contract(parameters: Any, says: str | None) -> None:
    """Names and shapes, nothing more in a layer of the contract; another layer is the answer's own affair."""
    failure = missing_parameters({"kind": "built", "parameters": parameters}, STATE)
    assert (failure is None) == (says is None)
    assert failure is None or says in failure.message


def test_a_class_that_is_no_module_has_no_parameters() -> None:
    """Nobody asks it for any."""
    exchange = exchange_of(state=STATE)
    exchange.reply = {"kind": "built", "parameters": []}
    exchange.header["wants_module"] = False
    assert module_failure(exchange) is None
    exchange.header["wants_module"] = True
    assert module_failure(exchange) is not None


GOOD = {name: value.clone() for name, value in STATE.items()}


@pytest.mark.parametrize(
    ("learned", "kind"),
    [
        (GOOD, None),
        (GOOD | {"more": torch.zeros(1)}, None),
        (GOOD | {"first.bias": torch.tensor([1.0, float("nan")])}, "nan"),
        (GOOD | {"first.bias": torch.tensor([1.0, float("inf")])}, "nan"),
        (GOOD | {"first.bias": torch.zeros(3)}, "protocol"),
        (GOOD | {"first.bias": torch.zeros(2, dtype=torch.float64)}, "protocol"),
        (GOOD | {"first.bias": 3.0}, "protocol"),
        ({}, "protocol"),
        ([GOOD], "protocol"),
    ],
)
def test_what_was_learned_is_parameters_of_the_contract(learned: Any, kind: str | None) -> None:
    """Each of its shape and dtype, and finite."""
    failure = not_learned(learned, STATE, torch.float32)
    assert (failure and failure.kind) == kind


ONES, TINY = torch.ones(2, dtype=torch.float64), torch.full((2,), 1e-30, dtype=torch.float64)


@pytest.mark.parametrize(
    ("grads", "expected", "kind"),
    [
        ({"x": ONES}, {"x": ONES}, None),
        ({}, {"x": ONES}, "no-gradient"),
        ({"x": None}, {"x": ONES}, "no-gradient"),
        ({}, {"x": None}, None),
        ({}, {"x": ONES * 0}, None),
        ({}, {"x": TINY}, None),
        ({}, {"x": torch.zeros(0, dtype=torch.float64)}, None),
        ({"x": ONES * 2}, {"x": ONES}, "gradient-value"),
        ({"x": ONES}, {"x": None}, "gradient-value"),
        ({"x": ONES * 0}, {"x": None}, None),
        ({"x": ONES, "y": ONES * 2}, {"x": ONES}, None),
    ],
)
def test_gradients_by_name(grads: dict[str, Any], expected: dict[str, Any], kind: str | None) -> None:
    """None where there must be one is a failure unless it would be zero; what nobody expects nobody looks at."""
    try:
        compare_gradients(grads, expected, torch.float64)
    except Failure as failure:
        found: str | None = failure.kind
    else:
        found = None
    assert found == kind


def test_gradients_of_what_was_handed_back_are_not_expected() -> None:
    """The others are."""
    earlier = exchange_of(ONES)
    earlier.want, earlier.settled = ONES, True
    exchange = exchange_of(ONES, Result(earlier, lambda _exchange: None))
    exchange.want_grads = {"x": ONES, "y": ONES}
    assert expected_gradients(exchange).keys() == {"x"}


@pytest.mark.parametrize(
    ("args", "handle", "device", "where"),
    [
        ((ONES,), None, "sim", "sim"),
        ((ONES,), None, "cpu", ""),
        ((3,), None, "sim", ""),
        ((3,), 1, "sim", "sim"),
    ],
)
def test_where_results_must_be(args: tuple[Any, ...], handle: int | None, device: str, where: str) -> None:
    """On the device where a tensor or a module of the call is; anywhere, where none is."""
    exchange = exchange_of(*args)
    exchange.header["handle"] = handle
    assert device_of_results(exchange, device) == where


def test_a_part_that_is_not_there() -> None:
    """A result without the part that two agree on fails with what came; no result at all is no agreement."""
    one, other = exchange_of(ONES), exchange_of(ONES)
    one.value, other.value = (ONES, ONES), ONES
    one.settled = other.settled = True
    assert agreed(Agreement((0, (0,)), (1, ()), True, "", 2), [one, other])
    with pytest.raises(Failure, match="your code returned") as caught:
        agreed(Agreement((0, (5,)), (1, ()), True, "", 2), [one, other])
    assert caught.value.kind == "structure"
    assert at(None, (3, "a")) is None
    assert misfit([one], ValueError("two\nlines")).message.endswith("two")


class Says:
    """Answers with one reply, whatever it is asked."""

    def __init__(self, reply: dict[str, Any]) -> None:
        self._reply = reply

    def wait(self, _asked: Any) -> Any:
        """Return it."""
        return self._reply, {}


@pytest.mark.parametrize(
    "reply",
    [
        {"kind": "value"},
        {"kind": "value", "value": {"t": "nowhere"}},
        {"kind": "value", "value": 3, "grads": 3},
        {"kind": "value", "value": 3, "grads": [[1]]},
        {"kind": "value", "value": 3, "modified": [3]},
    ],
)
def test_a_reply_that_cannot_be_read(reply: dict[str, Any]) -> None:
    """It is a failure, and nobody tries to read it again."""
    exchange = exchange_of(ONES)
    exchange.asked = ({}, {})
    with pytest.raises(Failure):
        receive(exchange, Says(reply))
    assert exchange.settled
    assert exchange.reply == {"kind": "unreadable"}


def test_errors_by_name() -> None:
    """As a sentence needs them."""
    assert named((ValueError, TypeError)) == "ValueError or TypeError"
    assert nothing_raised((ValueError,)) == "expected ValueError, but nothing was raised"
