"""The reference of int8-cache against Python's whole numbers, PyTorch's own quantisation and attention."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import reference

TOLERANCE = 1e-10


def test_rows_of_numbers() -> None:
    """Every code is the whole number that Python rounds to, with a step that makes the largest one 127."""
    x = torch.randn(7, 11, dtype=torch.float64)
    q, scale = reference("int8-cache").quantise(x, -1)
    assert q.dtype == torch.int8
    for row, codes, (step,) in zip(x.tolist(), q.tolist(), scale.tolist(), strict=True):
        assert step == max(map(abs, row)) / 127
        assert codes == [round(number / step) for number in row]


@pytest.mark.filterwarnings("ignore")  # PyTorch says of its own quantised tensors that they will move
def test_as_pytorch_quantises() -> None:
    """With a step for each row, `torch.quantize_per_channel` has the same codes and the same numbers."""
    x = torch.randn(5, 40)
    q, scale = reference("int8-cache").quantise(x, 1)
    zeros = torch.zeros(5, dtype=torch.int64)
    theirs = torch.quantize_per_channel(x, scale.flatten().double(), zeros, 0, torch.qint8)
    assert torch.equal(q, theirs.int_repr())
    back = reference("int8-cache").dequantise(q, scale, torch.float32)
    torch.testing.assert_close(back, theirs.dequantize())


def test_rows_of_zeros() -> None:
    """Zeros are zeros there and back."""
    q, scale = reference("int8-cache").quantise(torch.zeros(2, 3), 0)
    assert not q.any()
    assert torch.equal(reference("int8-cache").dequantise(q, scale, torch.float32), torch.zeros(2, 3))


@pytest.mark.parametrize(("n", "m"), [(1, 6), (4, 4), (5, 1)])
def test_attention(n: int, m: int) -> None:
    """It is `F.scaled_dot_product_attention` over the numbers that codes and steps stand for."""
    query = torch.randn(2, 3, n, 5, dtype=torch.float64)
    keys, values = torch.randn(2, 3, m, 5, dtype=torch.float64), torch.randn(2, 3, m, 4, dtype=torch.float64)
    kata = reference("int8-cache")
    caches = [kata.quantise(x, -1) for x in (keys, values)]
    got = kata.int8_attention(query, *caches)
    want = F.scaled_dot_product_attention(query, *(codes.double() * scale for codes, scale in caches))
    torch.testing.assert_close(got, want, rtol=TOLERANCE, atol=TOLERANCE)
    near = F.scaled_dot_product_attention(query, keys, values)
    torch.testing.assert_close(got, near, rtol=0.0, atol=0.05)
