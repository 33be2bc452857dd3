"""layer-norm-backward against autograd through `F.layer_norm`, and against differences of the loss."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import agree, reference

F64 = {"dtype": torch.float64}


def by_autograd(x: Tensor, weight: Tensor, d_output: Tensor, eps: float) -> tuple[Tensor, ...]:
    """Return what autograd makes of `F.layer_norm`."""
    leaves = [leaf.detach().requires_grad_() for leaf in (x, weight, torch.zeros_like(weight))]
    y = F.layer_norm(leaves[0], weight.shape, leaves[1], leaves[2], eps)
    return torch.autograd.grad(y, leaves, d_output)


@pytest.mark.parametrize("eps", [1e-5, 0.3])
@pytest.mark.parametrize("scale", [1.0, 3e-3, 1e3])
@pytest.mark.parametrize("shape", [(5,), (3, 1), (2, 3, 6), (2, 3, 4, 7)])
def test_function(shape: tuple[int, ...], scale: float, eps: float) -> None:
    """Autograd through `F.layer_norm`, in the order of its arguments."""
    torch.manual_seed(7)
    x, d_output = scale * (torch.randn(*shape, **F64) + 0.5), torch.randn(*shape, **F64)
    weight = torch.randn(shape[-1], **F64)
    got = reference("layer-norm-backward").layer_norm_backward(x, weight, d_output, eps)
    for one, two in zip(got, by_autograd(x, weight, d_output, eps), strict=True):
        agree(one, two)


def test_second_derivative() -> None:
    """What comes back can be differentiated: `gradgradcheck` of autograd's own kind."""
    torch.manual_seed(7)
    backward = reference("layer-norm-backward").layer_norm_backward
    x, weight, d_output = (torch.randn(*shape, **F64).requires_grad_() for shape in ((2, 3, 5), (5,), (2, 3, 5)))
    assert torch.autograd.gradcheck(backward, (x, weight, d_output))


def test_differences_of_the_loss() -> None:
    """A step along any direction changes the loss by the dot product with the gradient."""
    torch.manual_seed(7)
    x, weight, d_output = torch.randn(3, 4, **F64), torch.randn(4, **F64), torch.randn(3, 4, **F64)
    dx, d_weight, _ = reference("layer-norm-backward").layer_norm_backward(x, weight, d_output)
    along, across, h = torch.randn(3, 4, **F64), torch.randn(4, **F64), 1e-5

    def loss(step: float) -> Tensor:
        return (F.layer_norm(x + step * along, (4,), weight + step * across) * d_output).sum()

    slope = (loss(h) - loss(-h)) / (2 * h)
    torch.testing.assert_close(slope, (dx * along).sum() + (d_weight * across).sum(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_other_dtypes(dtype: torch.dtype) -> None:
    """Nearly the nearest number of the dtype, where squares would overflow and the mean is large."""
    torch.manual_seed(7)
    for offset, scale in ((0.0, 2e3), (64.0, 1.5)):
        x, d_output = (offset + scale * torch.randn(4, 3, 8)).to(dtype), (scale * torch.randn(4, 3, 8)).to(dtype)
        weight = torch.randn(8).to(dtype)
        got = reference("layer-norm-backward").layer_norm_backward(x, weight, d_output)
        want = by_autograd(x.double(), weight.double(), d_output.double(), 1e-5)
        for one, two in zip(got, want, strict=True):
            assert one.dtype == dtype
            slack = max(2 * torch.finfo(dtype).eps, 2e-5)  # float32: a mean of 64 takes two digits
            torch.testing.assert_close(one.double(), two, rtol=slack, atol=slack * float(two.abs().max()))
