"""cross-entropy against `F.cross_entropy`."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import agree, reference

F64 = {"dtype": torch.float64}


@pytest.mark.parametrize("ignored", [-100, 0, 3])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("shape", [(6,), (3, 5), (2, 3, 4)])
def test_function(shape: tuple[int, ...], scale: float, smoothing: float, ignored: int) -> None:
    """`F.cross_entropy`, which has the classes on the second axis: values and gradients."""
    torch.manual_seed(7)
    logits = (scale * torch.randn(*shape, 7, **F64)).requires_grad_()
    targets = torch.randint(0, 7, shape)
    targets = torch.where(torch.rand(shape) < 0.3, ignored, targets)
    targets.view(-1)[0] = 5
    got = reference("cross-entropy").cross_entropy(logits, targets, ignored, smoothing)
    want = F.cross_entropy(logits.reshape(-1, 7), targets.reshape(-1), ignore_index=ignored, label_smoothing=smoothing)
    agree(got, want)
    agree(torch.autograd.grad(got, logits, retain_graph=True)[0], torch.autograd.grad(want, logits)[0])


def test_by_probabilities() -> None:
    """The definition, with Python's own logarithm."""
    torch.manual_seed(7)
    logits, targets = torch.randn(4, 5, **F64), [3, 0, 4, 2]
    rows = [[math.exp(z) for z in row] for row in logits.tolist()]
    losses = [-math.log(row[t] / sum(row)) for row, t in zip(rows, targets, strict=True)]
    got = reference("cross-entropy").cross_entropy(logits, torch.tensor(targets))
    agree(got, torch.tensor(sum(losses) / 4, **F64))


def test_nothing_counts() -> None:
    """PyTorch's mean over nothing is NaN; this one is 0, and can be differentiated."""
    logits = torch.randn(2, 3, 5, **F64, requires_grad=True)
    loss = reference("cross-entropy").cross_entropy(logits, torch.full((2, 3), -100), label_smoothing=0.1)
    loss.backward()
    assert loss == 0
    assert logits.grad is not None
    assert not logits.grad.any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_other_dtypes(dtype: torch.dtype) -> None:
    """The nearest number of the dtype, up to one rounding, also where the sum overflows."""
    torch.manual_seed(7)
    for scale in (1.0, 400.0):
        logits, targets = (scale * torch.randn(300, 8)).to(dtype), torch.randint(0, 8, (300,))
        got = reference("cross-entropy").cross_entropy(logits, targets)
        assert got.dtype == dtype
        want = F.cross_entropy(logits.double(), targets)
        torch.testing.assert_close(got.double(), want, rtol=2 * torch.finfo(dtype).eps, atol=0.0)
