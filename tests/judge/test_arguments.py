"""The arguments of a call, seen from the answer's side, from the reference's, and by a reader."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.judge.exchange.arguments import (
    cast,
    described,
    expected_gradients,
    got,
    handed_back,
    lives_on_a_device,
    size,
    want,
)
from grader.judge.exchange.results import Exchange, Result
from grader.sandbox.arguments import INPUTS_ALONE, ONE_ALONE, WEIGHTS_ALONE, asked
from grader.transport.callables import Step
from grader.transport.wire import DeviceName

X = torch.arange(6.0).reshape(2, 3)
MASK = torch.tensor([True, False])


def result(*, settled: bool = True) -> Result:
    """Return what a call returned: a tensor for the answer, another one for the reference."""
    exchange = Exchange({}, {}, "f(x)", ("output",), compared=True, key=7, settled=settled)
    exchange.value, exchange.want = (X + 1, X), (X + 2, X)
    return Result(exchange, lambda _exchange: None)


def test_each_side_gets_its_own() -> None:
    """A result that is handed back is the answer's for the answer, what stands for it on the wire, and the model's."""
    tree = {"state": (result()[0], [3]), "x": X}
    assert torch.equal(got(tree)["state"][0], X + 1)
    assert torch.equal(want(tree)["state"][0], X + 2)
    assert tree["state"][0].packed() == {"returned": 7, "path": [0]}
    for side in (got, want):
        assert side(tree)["state"][1] == [3]
        assert side(tree)["x"] is X
        assert type(side(tree)["state"]) is tuple


def test_a_device_is_the_variants_for_the_answer_and_the_cpu_for_the_reference() -> None:
    """A device as an argument has two sides as well."""
    device = DeviceName("sim:0")
    assert (got(device), want([device])) == (device, [DeviceName("cpu")])


def test_what_was_handed_back_has_no_part_in_a_gradient() -> None:
    """Only the names of tensors that an earlier call returned, by position, by name and inside tuples."""
    names = ["x", "state", "memory"]
    assert handed_back((X, X), {"memory": X}, names) == set()
    assert handed_back((X, result()[0]), {"memory": X}, names) == {"state"}
    assert handed_back((X,), {"memory": result()[0]}, names) == {"memory"}
    assert len(handed_back((X, (result()[0], X)), {}, names)) == 1


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_a_cast_is_for_floats_alone(dtype: torch.dtype) -> None:
    """Masks and indices keep their dtype, whatever they stand in."""
    done = cast({"x": (X, [MASK, 3, None])}, dtype)
    assert done["x"][0].dtype == dtype
    assert done["x"][1][0] is MASK
    assert done["x"][1][1:] == [3, None]


def test_a_cast_through_two_dtypes_rounds() -> None:
    """What comes back in float64 is what float16 can hold."""
    assert float(cast(torch.tensor(0.1), torch.float16, torch.float64)) == float(torch.tensor(0.1).half())


def test_the_same_tensor_stays_one_object() -> None:
    """Self-attention gets one tensor three times after a cast, too, and a copy is a copy once."""
    for done in (cast((X, X), torch.float64), cast((X, X), copy=True)):
        assert done[0] is done[1]
        assert done[0] is not X
    assert cast((X,))[0] is X
    copied = cast([X], copy=True)[0]
    copied.zero_()
    assert float(X.sum()) == 15.0


def test_an_expanded_tensor_stays_expanded() -> None:
    """Torch would lay it out anew: an answer that writes into it would then get away with it."""
    expanded = torch.ones(2, 1, 3).expand(2, 4, 3)
    assert cast(expanded, torch.float64).stride() == expanded.stride()
    assert torch.equal(cast(expanded, torch.float64), expanded.double())


def test_a_table_of_steps_is_cast_as_well() -> None:
    """A language model as an argument computes in the dtype of the variant."""
    table = torch.tensor([[0.1, 0.2], [0.3, 0.4]], dtype=torch.float64)
    (step,) = cast([Step(table)], torch.float16, torch.float64)
    assert step.dtypes == (torch.float16, torch.float64)
    assert torch.equal(step.table, table)


@pytest.mark.parametrize(
    ("value", "lives"),
    [
        (3, False),
        (None, False),
        ((1, [2]), False),
        ({"n": 3}, False),
        (X, True),
        ([1, (X,)], True),
        ({"x": X}, True),
        (DeviceName("cpu"), True),
        (result(), True),
    ],
)
def test_where_a_result_must_be_follows_from_a_tensor_or_a_device(value: Any, lives: bool) -> None:
    """Without either of them a result may be anywhere."""
    assert lives_on_a_device(value) is lives


@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        ((X, MASK), {}, "x (2, 3), mask (2,) bool"),
        ((X, None), {}, "x (2, 3), mask=None"),
        ((X,), {"dim": -1}, "x (2, 3), dim=-1"),
        ((X, torch.tensor([1])), {}, "x (2, 3), mask (1,) int64"),
        ((3, 4, 5), {}, "x=3, mask=4, 5"),
        (((X, X),), {}, "x ((2, 3), (2, 3))"),
        ((result(settled=False),), {}, "x as returned"),
        ((result()[0],), {}, "x (2, 3)"),
        ((), {}, ""),
    ],
)
def test_as_a_reader_would_write_it(args: tuple[Any, ...], kwargs: dict[str, Any], text: str) -> None:
    """Tensors by name and shape, everything else as it is."""
    assert described(args, kwargs, ("x", "mask")) == text


def test_how_many_numbers_there_are() -> None:
    """All tensors count, nothing else does."""
    assert size({"args": (X, [MASK]), "n": 5}) == 8
    assert size(None) == size(()) == 0


@pytest.mark.parametrize(
    ("level", "number", "expected"),
    [
        ("", 0, (["q", "k"], True)),
        (INPUTS_ALONE, 0, (["q", "k"], False)),
        (WEIGHTS_ALONE, 0, ([], True)),
        (ONE_ALONE, 0, (["q"], False)),
        (ONE_ALONE, 3, (["k"], False)),
    ],
)
def test_a_gradient_is_asked_of_some(level: str, number: int, expected: tuple[list[str], bool]) -> None:
    """A level leaves inputs or weights out; where nothing else is there, everything is asked."""
    assert asked(level, number, ["q", "k"], weights=True) == expected
    assert asked(WEIGHTS_ALONE, number, ["q", "k"], weights=False) == (["q", "k"], True)
    assert asked(level, number, [], weights=True) == ([], True)


def test_gradients_that_were_not_asked_for_are_not_expected() -> None:
    """Of a frozen module with two inputs, one of which asks, one gradient is compared."""
    header = {"names": ["q", "k"], "asks": [ONE_ALONE, 1]}
    exchange = Exchange(header, {"args": (X, X + 1), "kwargs": {}}, "f(q, k)", ("output",), compared=True)
    exchange.want_grads = {"q": X, "k": X + 2, "W.weight": X + 3}
    assert list(expected_gradients(exchange)) == ["k"]
    header["asks"] = [WEIGHTS_ALONE, 1]
    assert list(expected_gradients(exchange)) == ["W.weight"]
    del header["asks"]
    assert list(expected_gradients(exchange)) == ["q", "k", "W.weight"]
