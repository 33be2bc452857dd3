"""layer-norm against `F.layer_norm` and `nn.LayerNorm`."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import agree, reference

F64 = {"dtype": torch.float64}


@pytest.mark.parametrize("eps", [1e-5, 0.3])
@pytest.mark.parametrize("scale", [1.0, 3e-3, 1e3])
@pytest.mark.parametrize("shape", [(5,), (3, 1), (2, 3, 6), (2, 3, 4, 7)])
def test_function(shape: tuple[int, ...], scale: float, eps: float) -> None:
    """`F.layer_norm`: values and all gradients."""
    torch.manual_seed(7)
    x = (scale * (torch.randn(*shape, **F64) + 0.5)).requires_grad_()
    weight, bias = (torch.randn(shape[-1], **F64).requires_grad_() for _ in range(2))
    got = reference("layer-norm").layer_norm(x, weight, bias, eps)
    want = F.layer_norm(x, shape[-1:], weight, bias, eps)
    agree(got, want)
    cotangent = torch.randn(*shape, **F64)
    sources = (x, weight, bias)
    mine = torch.autograd.grad(got, sources, cotangent, retain_graph=True)
    theirs = torch.autograd.grad(want, sources, cotangent)
    for one, two in zip(mine, theirs, strict=True):
        agree(one, two)


def test_module() -> None:
    """`nn.LayerNorm` as it is built, and with the same weights."""
    torch.manual_seed(7)
    own, known = reference("layer-norm").LayerNorm(6).double(), nn.LayerNorm(6, **F64)
    x = torch.randn(2, 3, 6, **F64)
    agree(own(x), known(x))
    known.load_state_dict({name: value + torch.randn_like(value) for name, value in own.state_dict().items()})
    own.load_state_dict(known.state_dict())
    agree(own(1e-3 * x), known(1e-3 * x))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_other_dtypes(dtype: torch.dtype) -> None:
    """The nearest number of the dtype, up to one rounding, where squares would overflow and where the mean is large."""
    torch.manual_seed(7)
    for offset, scale in ((0.0, 2e3), (64.0, 1.5), (0.0, 3e-3)):
        x = (offset + scale * torch.randn(4, 3, 8)).to(dtype)
        weight, bias = torch.randn(8).to(dtype), torch.randn(8).to(dtype)
        got = reference("layer-norm").layer_norm(x, weight, bias)
        want = F.layer_norm(x.double(), (8,), weight.double(), bias.double())
        assert got.dtype == dtype
        torch.testing.assert_close(got.double(), want, rtol=2 * torch.finfo(dtype).eps, atol=2e-5)
