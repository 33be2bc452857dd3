"""rms-norm against `F.rms_norm` and against plain loops."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import agree, reference

F64 = {"dtype": torch.float64}


@pytest.mark.parametrize("eps", [1e-6, 0.3])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
@pytest.mark.parametrize("shape", [(5,), (3, 1), (2, 3, 6), (2, 3, 4, 7)])
def test_function(shape: tuple[int, ...], scale: float, eps: float) -> None:
    """`F.rms_norm`: values and all gradients."""
    torch.manual_seed(7)
    x = (scale * (torch.randn(*shape, **F64) + 0.5)).requires_grad_()
    weight = torch.randn(shape[-1], **F64).requires_grad_()
    got = reference("rms-norm").rms_norm(x, weight, eps)
    want = F.rms_norm(x, shape[-1:], weight, eps)
    agree(got, want)
    cotangent = torch.randn(*shape, **F64)
    mine = torch.autograd.grad(got, (x, weight), cotangent, retain_graph=True)
    theirs = torch.autograd.grad(want, (x, weight), cotangent)
    for one, two in zip(mine, theirs, strict=True):
        agree(one, two)


def test_by_hand() -> None:
    """Plain Python, number by number, with the default eps; a row of zeros stays zero."""
    torch.manual_seed(7)
    x, weight = 1e-3 * torch.randn(4, 6, **F64), torch.randn(6, **F64)
    x[2] = 0.0
    rows = [[value / math.sqrt(math.fsum(v * v for v in row) / 6 + 1e-6) for value in row] for row in x.tolist()]
    agree(reference("rms-norm").rms_norm(x, weight), torch.tensor(rows, **F64) * weight)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_other_dtypes(dtype: torch.dtype) -> None:
    """The nearest number of the dtype, up to one rounding, where squares would overflow or vanish."""
    torch.manual_seed(7)
    for scale in (1.0, 2e3, 1e-3):
        x, weight = (scale * torch.randn(4, 3, 8)).to(dtype), torch.randn(8).to(dtype)
        got = reference("rms-norm").rms_norm(x, weight)
        want = F.rms_norm(x.double(), (8,), weight.double(), 1e-6)
        assert got.dtype == dtype
        torch.testing.assert_close(got.double(), want, rtol=2 * torch.finfo(dtype).eps, atol=1e-6)
