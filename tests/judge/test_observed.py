"""What probes in the sandbox report, and what is made of it: nothing forged is believed or breaks anything."""

from __future__ import annotations

from typing import Any

import pytest

from grader.judge.exchange.observed import contract_failure, device_failure, remarks_of
from grader.judge.exchange.seen import asked_of, cost_of, seen_in, tensor_nodes
from tests.judge.runs import exchange_of

COUNTED = {"calls": 3, "madds": 40, "elems": 12, "biggest": 8, "biggest_line": 5, "peak": 9, "lines": [[5, 2], [6, 1]]}
JUNK: list[Any] = [None, 3, "text", [], {}, [[]], [[1]], [[1, 2, 3]], [["a", "b"]], {"a": 1}, True, [None]]


def reply(**seen: Any) -> dict[str, Any]:
    """Return a reply during which this was seen."""
    return {"kind": "value", "value": {"t": "f", "device": "cpu"}, "seen": seen, "modified": []}


def test_a_counted_cost_is_read() -> None:
    """All counts, and how many calls each line made."""
    cost = cost_of(reply(cost=COUNTED))
    assert cost is not None
    assert (cost.calls, cost.madds, cost.elems, cost.biggest, cost.biggest_line, cost.peak) == (3, 40, 12, 8, 5, 9)
    assert cost.lines == {5: 2, 6: 1}
    assert cost.work == 52


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("junk", [None, "3", 3.0, True, {"a": 1}])
def test_a_forged_cost_counts_as_none(name: str, junk: Any) -> None:
    """One number that is none, and nothing was counted."""
    assert cost_of(reply(cost=COUNTED | {name: junk})) is None
    assert cost_of(reply()) is None


def test_lines_that_are_none_are_left_out() -> None:
    """Of the lines those are kept that are pairs of numbers."""
    cost = cost_of(reply(cost=COUNTED | {"lines": [[5, 2], [1], "x", [1, "2"], [True, 2], None]}))
    assert cost is not None
    assert cost.lines == {5: 2}


@pytest.mark.parametrize("junk", JUNK)
def test_what_was_seen_may_be_anything(junk: Any) -> None:
    """No junk in any place raises, and none of it is a failure, a remark or a prefix."""
    assert seen_in({"seen": junk}) == (junk if type(junk) is dict else {})
    assert asked_of(reply(asked=junk)) == []
    assert cost_of(reply(cost=junk)) is None
    if junk != [["a", "b"]]:  # a finding: a text, and a line that is none
        assert remarks_of(reply(remarks=junk)) == []
        assert device_failure(reply(traffic=junk), "", ()) is None


def test_prefixes_that_a_step_was_asked_for() -> None:
    """Rows and length of each, in order."""
    assert asked_of(reply(asked=[[2, 1], [2, 2], "junk", [1]])) == [(2, 1), (2, 2)]


def test_a_forbidden_call_is_a_failure_with_its_line() -> None:
    """The first one is named; what has a line that is no number has none."""
    exchange = exchange_of(1)
    exchange.reply = reply(forbidden=[["torch.softmax", 3], ["torch.exp", 4]])
    failure = contract_failure(exchange)
    assert failure is not None
    assert (failure.kind, failure.line, failure.call) == ("forbidden", 3, "f(x)")
    assert "torch.softmax" in failure.message
    exchange.reply = reply(forbidden=[["torch.softmax", "3"]])
    assert contract_failure(exchange).line == 0


def test_a_changed_input_is_a_failure() -> None:
    """All names, up to eight; a reply without any is fine."""
    exchange = exchange_of(1)
    exchange.reply = reply() | {"modified": [f"x{number}" for number in range(10)]}
    failure = contract_failure(exchange)
    assert failure is not None
    assert failure.kind == "modified"
    assert "x7" in failure.message
    assert "x8" not in failure.message
    for modified in ([], None, "x", {"x": 1}):
        exchange.reply = reply() | {"modified": modified}
        assert contract_failure(exchange) is None


@pytest.mark.parametrize(
    ("where", "device", "kind"),
    [
        ("sim:0", "sim", None),
        ("cpu", "sim", "device"),
        ("cpu", "", None),
        (None, "sim", "device"),
        (7, "sim", "device"),
        ("simulated", "sim", "device"),
    ],
)
def test_where_a_result_lives(where: Any, device: str, kind: str | None) -> None:
    """On the device of the inputs, where there is one; what says nothing of the kind is elsewhere."""
    value = {"value": {"t": "f", "device": where}}
    failure = device_failure(reply() | value, device, ("output",))
    assert (failure and failure.kind) == kind
    assert failure is None or "`output`" in failure.message


def test_traffic_is_a_failure_and_a_remark_is_none() -> None:
    """What crossed to the host fails with its line; a remark is only told."""
    failure = device_failure(reply(traffic=[["a copy to the host", 7]]), "", ())
    assert failure is not None
    assert (failure.kind, failure.line) == ("traffic", 7)
    assert remarks_of(reply(remarks=[["a copy to the host", 7]])) == [("a copy to the host", 7)]


def test_the_tensors_of_a_tree_in_order() -> None:
    """Through tuples, lists and dictionaries, as they were packed."""
    one, two, three = ({"t": "f", "number": number} for number in (1, 2, 3))
    tree = {"p": [one, {"l": [two]}, {"d": [["key", three]]}, 5, None]}
    assert list(tensor_nodes(tree)) == [one, two, three]
    assert list(tensor_nodes(None)) == list(tensor_nodes(3)) == []
