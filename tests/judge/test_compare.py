"""What counts as equal, and the sentence for what does not: structure, shape, dtype, NaN, values, in this order."""

from __future__ import annotations

import math

import pytest
import torch

from grader.judge.exchange.compare import agree, compare, same_bits, tolerance_of
from grader.judge.tolerance import SMALLEST_SCALE, TOLERANCE, tolerance
from grader.transport.wire import Foreign

F32 = torch.float32


def want(*numbers: float) -> torch.Tensor:
    """Return what a reference would have returned."""
    return torch.tensor(numbers, dtype=torch.float64)


def sentence(got, expected, dtype=F32, names=()) -> str:
    """Return kind and message of a mismatch, empty for none."""
    mismatch = compare(got, expected, dtype, names)
    return f"{mismatch.kind}: {mismatch.message}" if mismatch else ""


def test_equal() -> None:
    """The result has the dtype of the variant, the reference float64."""
    assert sentence(torch.tensor([1.0, 2.0]), want(1, 2)) == ""
    assert sentence(torch.tensor([1.0, 2.0]).half(), want(1, 2), torch.float16) == ""
    assert sentence((torch.zeros(0, 3), None), (torch.zeros(0, 3).double(), None)) == ""


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_tolerance_at_its_edges(dtype: torch.dtype, scale: float) -> None:
    """An error of the tolerance times the largest expected value passes, a larger one does not."""
    expected = want(scale, 0.0, -scale / 2)
    inside, outside = expected.clone(), expected.clone()
    inside[1] = 0.98 * TOLERANCE[dtype] * scale
    outside[1] = 1.02 * TOLERANCE[dtype] * scale
    assert sentence(inside.to(dtype), expected, dtype) == ""
    assert sentence(outside.to(dtype), expected, dtype).startswith("value: first wrong entry [1] of the result")


def test_very_small_values() -> None:
    """Where all expected values are tiny the error is held against a fixed scale: rounding noise is no mistake."""
    noise = TOLERANCE[F32] * SMALLEST_SCALE
    assert sentence(torch.tensor([0.9 * noise, 0.0]), want(0, 0)) == ""
    assert sentence(torch.tensor([1.2 * noise, 0.0]), want(0, 0)).startswith("value: ")
    assert tolerance(torch.int64, 9.0).most == tolerance(torch.bool, 1.0).most == 0.0


def test_numbers_in_the_sentence() -> None:
    """First wrong entry, expected and got, how many, how far, and the tolerance."""
    got = torch.tensor([[1.0, 2.0], [3.0, -4.5]])
    assert sentence(got, torch.tensor([[1.0, 2.0], [3.5, 4.0]], dtype=torch.float64), names=("weights",)) == (
        "value: first wrong entry [1, 0] of `weights`: expected 3.5000, got 3.0000; "
        "2 of 4 entries differ, largest error 8.5, tolerance 4e-05"
    )


def test_a_number_without_axes() -> None:
    """It has no place in a tensor to be named."""
    assert sentence(torch.tensor(True), torch.tensor(False)) == "value: the result: expected False, got True"
    loss = sentence(torch.tensor(2.5), torch.tensor(2.0, dtype=torch.float64))
    assert loss.startswith("value: the result: expected 2.0000, got 2.5000, largest error 0.5, tolerance ")


def test_as_many_digits_as_it_takes() -> None:
    """Two numbers that differ are never shown as the same one."""
    close = torch.tensor([1.0, -1.61899991], dtype=torch.float64)
    found = sentence(close, want(1.0, -1.61899613), torch.float64)
    assert "expected -1.618996, got -1.619;" in found
    far = sentence(torch.tensor([2.0000004e6], dtype=torch.float64), want(1.9999904e6), torch.float64)
    assert "expected 1.99999e+06, got 2e+06;" in far


def test_shape_comes_before_values_and_dtype() -> None:
    """A wrong shape is told even where values, NaN and dtype are wrong too."""
    got = torch.full((3, 2), math.nan, dtype=torch.float64)
    assert sentence(got, torch.zeros(2, 3).double()) == "shape: the result has shape (3, 2), expected (2, 3)"
    zero_dim = sentence(torch.tensor(1.0), want(1), names=("output",))
    assert zero_dim == "shape: `output` has shape (), a 0-dimensional tensor, expected (1,)"


def test_dtype_comes_before_values() -> None:
    """The dtype is that of the variant for floats, the reference's own for all else."""
    assert sentence(want(5), want(1)) == "dtype: the result has dtype float64, expected float32"
    assert sentence(torch.tensor([1]), torch.tensor([True])) == "dtype: the result has dtype int64, expected bool"
    assert sentence(torch.tensor([1.0]), torch.tensor([1])) == "dtype: the result has dtype float32, expected int64"


@pytest.mark.parametrize(("bad", "name"), [(math.nan, "NaN"), (math.inf, "inf"), (-math.inf, "-inf")])
def test_what_is_not_finite(bad: float, name: str) -> None:
    """NaN and infinities have a sentence of their own, whatever the tolerance."""
    got = torch.tensor([0.0, 7.0, bad, bad])
    expected = f"nan: the result is {name} at [2], expected 3.0000; 2 of 4 entries are not finite"
    assert sentence(got, want(9, 1, 3, 4)) == expected


def test_integers_and_bools_are_exact() -> None:
    """They have no tolerance."""
    got = sentence(torch.tensor([True, False]), torch.tensor([True, True]))
    assert got == "value: first wrong entry [1] of the result: expected True, got False; 1 of 2 entries differ"
    assert sentence(torch.tensor([2**60]), torch.tensor([2**60 + 1])).startswith("value: ")


@pytest.mark.parametrize("exact", [torch.tensor(True), torch.tensor(7), torch.ones(2, 3, dtype=torch.int64)])
def test_the_tolerance_of_what_is_exact(exact: torch.Tensor) -> None:
    """None, also of a single number without axes: a grading that is prepared asks for it."""
    assert tolerance_of(exact, torch.float32).most == 0.0


def test_a_reference_that_is_not_finite() -> None:
    """That is our own fault, never the answer's."""
    with pytest.raises(AssertionError, match="the reference returned"):
        compare(torch.tensor([1.0]), want(math.nan), F32)


@pytest.mark.parametrize(
    ("got", "says"),
    [
        (None, "your code returned None"),
        (1.5, "your code returned the float 1.5"),
        ("x" * 500, "your code returned the str 'xxx"),
        (Foreign("a NumPy array"), "your code returned a NumPy array"),
        (Foreign("a generator"), "your code returned a generator"),
        (Foreign("a subclass of torch.Tensor (Fake)"), "your code returned a subclass of torch.Tensor (Fake)"),
        ((torch.zeros(2), torch.zeros(2)), "your code returned a tuple of 2"),
        ([torch.zeros(2)], "your code returned a list of 1"),
        ({"a": 1}, "your code returned a dict of 1"),
    ],
    ids=str,
)
def test_no_tensor(got, says: str) -> None:
    """What is no tensor is named in a few words."""
    found = sentence(got, want(1, 2))
    assert found.startswith(f"structure: {says}")
    assert found.endswith("expected a torch.Tensor of shape (2,)")
    assert len(found) < 200


def test_tuples() -> None:
    """The number of values counts, a list does for a tuple, and members are named as the reference names them."""
    pair, names = (want(1), want(2)), ("output", "weights")
    assert sentence([torch.tensor([1.0]), torch.tensor([2.0])], pair) == ""
    assert sentence(torch.tensor([1.0]), pair, names=names) == (
        "structure: your code returned a tensor of shape (1,), expected a tuple of 2: (output, weights)"
    )
    assert sentence((torch.tensor([1.0]),), pair) == "structure: your code returned 1 value, expected a tuple of 2"
    assert sentence((), pair) == "structure: your code returned 0 values, expected a tuple of 2"
    assert "[0] of `weights`" in sentence((torch.tensor([1.0]), torch.tensor([1.0])), pair, names=names)
    assert "`result[1]` has shape" in sentence((torch.tensor([1.0]), torch.zeros(3)), pair)
    nested = (want(1), (want(2), want(3)))
    assert sentence((torch.tensor([1.0]), None), nested, names=("output", "cache")).startswith(
        "structure: `cache` is None, expected a tuple of 2"
    )
    assert "`cache[1]` has shape" in sentence(
        (torch.tensor([1.0]), (torch.tensor([2.0]), torch.zeros(2))), nested, names=("output", "cache")
    )


def test_other_values() -> None:
    """None, numbers, texts and dicts."""
    assert sentence(torch.zeros(1), None) == "value: your code returned a tensor of shape (1,), expected None"
    assert sentence(0.1 + 0.2, 0.3) == sentence(3, 3.0) == sentence(3, 3) == sentence("a", "a") == ""
    assert sentence(0.31, 0.3) == "value: your code returned 0.31, expected 0.3"
    assert sentence(True, 1).startswith("value: ")
    assert sentence({"a": 1}, {"a": 1}) == ""
    assert sentence({"b": 1}, {"a": 1}).startswith("structure: ")
    assert "`result['a']` is the int 2" in sentence({"a": 2}, {"a": 1})


def test_texts() -> None:
    """All of a text counts; of a long one the sentence shows what stands around the first difference."""
    long = "abcdefghij" * 60
    assert sentence(long, long) == ""
    assert sentence("ab", "ac") == "value: your code returned the str 'ab', expected 'ac'"
    assert sentence(long + "!", long + "?") == (
        "value: your code returned the str … 'abcdefghijabcdefghij!', expected … 'abcdefghijabcdefghij?'"
    )
    assert sentence("x" + long, long).startswith("value: your code returned the str 'xabc")
    assert sentence(long[:-1], long).endswith("expected … 'jabcdefghijabcdefghij'")
    assert sentence(7, long).startswith("value: your code returned the int 7, expected 'abcdefghij")
    assert len(sentence(7, long)) < 200


def test_bits() -> None:
    """Metamorphic cases compare bit for bit; NaN equals NaN."""
    x = torch.tensor([1.0, math.nan, 0.0])
    assert same_bits((x, [1]), (x.clone(), [1]))
    assert not same_bits(x, torch.tensor([1.0 + 2e-7, math.nan, 0.0]))
    assert not same_bits(x, x.double())
    assert not same_bits(x, x[:2])
    assert not same_bits((x,), (x, x))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.000001]), True),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.001]), False),
        (torch.tensor([1.0, 2.0]), torch.tensor([[1.0, 2.0]]), False),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0]).double(), False),
        (torch.tensor([1.0, math.nan]), torch.tensor([1.0, math.nan]), True),
        (torch.tensor([1.0, math.nan]), torch.tensor([math.nan, 1.0]), False),
        (torch.tensor([1.0, math.inf]), torch.tensor([1.0, math.nan]), False),
        (torch.tensor([1.0, math.inf]), torch.tensor([1.0, -math.inf]), False),
        (torch.tensor([math.nan]), torch.tensor([math.nan]), True),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), False),
        ((torch.tensor([1]), None), [torch.tensor([1]), None], True),
        ((torch.tensor([1]),), (torch.tensor([1]), None), False),
        (Foreign("a generator"), Foreign("a generator"), True),
        (Foreign("a generator"), Foreign("a function"), False),
        (Foreign("a generator"), "a generator", False),
        (1, 1.0, False),
        (-1.5108, -1.5108001, True),
        (-1.5108, -1.5118, False),
        (-math.inf, -math.inf, True),
        (None, None, True),
        ("a", "b", False),
    ],
)
def test_one_behaviour(first, second, same: bool) -> None:
    """A mistake is named only if it did what the answer did: NaN and infinities in the same places too."""
    assert agree(first, second) is same
    assert agree(second, first) is same


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_the_lowest_number_is_not_minus_infinity(dtype) -> None:
    """-inf and the lowest number are told apart, and so are NaN and any number; zeros of both signs are equal."""
    x = torch.tensor([-math.inf, math.inf, math.nan, 0.0], dtype=dtype)
    assert same_bits(x, torch.tensor([-math.inf, math.inf, math.nan, -0.0], dtype=dtype))
    assert not same_bits(x, torch.tensor([torch.finfo(dtype).min, math.inf, math.nan, 0.0], dtype=dtype))
    assert not same_bits(x, torch.tensor([-math.inf, torch.finfo(dtype).max, math.nan, 0.0], dtype=dtype))
    assert not same_bits(x, torch.tensor([-math.inf, math.inf, 1e30, 0.0]).to(dtype))
