"""add-norm against plain Python, number by number, and against `F.layer_norm` for the gradients."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import agree, reference

F64 = {"dtype": torch.float64}


def add_norm(width: int, dropout: float = 0.0) -> nn.Module:
    """Build the module with weights that do something."""
    torch.manual_seed(7)
    module = reference("add-norm").AddNorm(width, dropout).double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter))
    return module


@pytest.mark.parametrize("scale", [1.0, 3e-3])
def test_by_hand(scale: float) -> None:
    """Plain Python for each token."""
    module = add_norm(5)
    x, y = scale * torch.randn(2, 3, 5, **F64), scale * torch.randn(2, 3, 5, **F64)
    got = module(x, y)
    weight, bias = module.ln.weight.tolist(), module.ln.bias.tolist()
    for b in range(2):
        for s in range(3):
            total = [p + q for p, q in zip(x[b, s].tolist(), y[b, s].tolist(), strict=True)]
            mean = math.fsum(total) / 5
            root = math.sqrt(math.fsum((t - mean) ** 2 for t in total) / 5 + 1e-5)
            want = [(t - mean) / root * w + c for t, w, c in zip(total, weight, bias, strict=True)]
            agree(got[b, s], torch.tensor(want, **F64))


def test_gradients() -> None:
    """The gradients of both summands are those of `F.layer_norm` of the sum."""
    module = add_norm(5)
    x, y = (torch.randn(2, 3, 5, **F64).requires_grad_() for _ in range(2))
    cotangent = torch.randn(2, 3, 5, **F64)
    mine = torch.autograd.grad(module(x, y), (x, y), cotangent)
    total = (x + y).detach().requires_grad_()
    want = F.layer_norm(total, (5,), module.ln.weight.detach(), module.ln.bias.detach())
    (theirs,) = torch.autograd.grad(want, total, cotangent)
    for one in mine:
        agree(one, theirs)


@pytest.mark.parametrize("rate", [0.0, 0.4, 1.0])
def test_dropout(rate: float) -> None:
    """In training the sum is that of x and what `F.dropout` makes of y from the same state of the generator."""
    module = add_norm(5, rate)
    x, y = torch.randn(2, 3, 5, **F64), torch.randn(2, 3, 5, **F64)
    torch.manual_seed(1)
    got = module.train()(x, y)
    torch.manual_seed(1)
    dropped = F.dropout(y, rate)
    agree(got, add_norm(5).eval()(x + dropped, torch.zeros_like(y)))
