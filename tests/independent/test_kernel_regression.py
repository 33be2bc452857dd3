"""The reference of kernel-regression agrees in float64 with plain loops over queries and keys."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from tests.references import reference

TOLERANCE = 1e-10


def leaves(*shapes: tuple[int, ...]) -> list[Tensor]:
    """Draw float64 numbers that take a gradient."""
    torch.manual_seed(7)
    return [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


def one_row(x: Tensor, keys: Tensor, values: Tensor, width: float | Tensor) -> tuple[Tensor, Tensor]:
    """Predict at one place, key by key, as the formula has it."""
    kernels = [torch.exp(-(((x - keys[i]) / width) ** 2) / 2) for i in range(len(keys))]
    total = sum(kernels)
    prediction = sum(kernel * values[i] for i, kernel in enumerate(kernels)) / total
    return prediction, torch.stack([kernel / total for kernel in kernels])


def agree(got: Tensor, want: Tensor, sources: list[Tensor]) -> None:
    """Check values and gradients."""
    torch.testing.assert_close(got, want, rtol=TOLERANCE, atol=TOLERANCE)
    cotangent = torch.randn_like(got)
    mine, theirs = (torch.autograd.grad(result, sources, cotangent, retain_graph=True) for result in (got, want))
    for one, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("bandwidth", [1.0, 0.4, 3.0])
def test_nadaraya_watson(bandwidth: float) -> None:
    """Predictions, weights and their gradients."""
    x, keys, values = sources = leaves((4,), (6,), (6,))
    y, weights = reference("kernel-regression").nadaraya_watson(x, keys, values, bandwidth)
    rows = [one_row(x[i], keys, values, bandwidth) for i in range(4)]
    agree(y, torch.stack([row[0] for row in rows]), sources)
    agree(weights, torch.stack([row[1] for row in rows]), sources[:2])


@pytest.mark.parametrize("shape", [(6,), (4, 6), (4, 4)])
def test_module(shape: tuple[int, ...]) -> None:
    """Keys and values for all and for each query; the gradient of w too."""
    x, keys, values = sources = leaves((4,), shape, shape)
    own = reference("kernel-regression").NWKernelRegression().double()
    assert {name: tuple(p.shape) for name, p in own.named_parameters()} == {"w": ()}
    with torch.no_grad():
        own.w.fill_(-0.6)
    expected = []
    for i in range(4):
        row = (keys, values) if len(shape) == 1 else (keys[i], values[i])
        expected.append(one_row(x[i], *row, 1 / own.w)[0])
    agree(own(x, keys, values), torch.stack(expected), [*sources, own.w])


def test_far_away() -> None:
    """The nearest key takes it all where the formula itself is 0 / 0."""
    keys, values = torch.arange(3, dtype=torch.float64), torch.tensor([5.0, 6.0, 7.0], dtype=torch.float64)
    x = torch.tensor([1e5, -1e5], dtype=torch.float64)
    y, weights = reference("kernel-regression").nadaraya_watson(x, keys, values)
    assert y.tolist() == [7.0, 5.0]
    assert weights.tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    assert math.exp(-(1e5**2) / 2) == 0.0


@pytest.mark.parametrize("n", [2, 3, 7])
def test_leave_one_out(n: int) -> None:
    """Lists without an entry, and the gradient of each point: it stands in all rows but its own."""
    x, y = sources = leaves((n,), (n,))
    keys, values = reference("kernel-regression").leave_one_out(x, y)
    for got, points in ((keys, x), (values, y)):
        rows = [[points[j] for j in range(n) if j != i] for i in range(n)]
        agree(got, torch.stack([torch.stack(row) for row in rows]), [points])
    assert torch.equal(torch.autograd.grad(keys.sum(), sources[0])[0], torch.full((n,), n - 1.0, dtype=torch.float64))


def test_loss() -> None:
    """Each point by plain loops over the others; values and gradients, also that of w."""
    x, y = leaves((6,), (6,))
    own = reference("kernel-regression").NWKernelRegression().double()
    with torch.no_grad():
        own.w.fill_(1.7)
    errors = []
    for i in range(6):
        others = [j for j in range(6) if j != i]
        errors.append(one_row(x[i], x[others], y[others], 1 / own.w)[0] - y[i])
    agree(own.loss(x, y), sum(error**2 for error in errors) / 6, [x, y, own.w])
