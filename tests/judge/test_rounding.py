"""Computing with other roundings: what computes is off by its last digit, what moves numbers is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from grader.judge.verdict import rounding
from grader.judge.verdict.rounding import COARSE

F64 = torch.float64
DIGIT = torch.finfo(F64).eps


def numbers(*shape: int) -> torch.Tensor:
    """Return numbers that are all different."""
    return torch.linspace(0.5, 3.0, torch.Size(shape).numel(), dtype=F64).reshape(shape)


def otherwise(function: Callable[[], torch.Tensor], draw: int = 1) -> torch.Tensor:
    """Return what a function computes with other roundings."""
    with rounding.otherwise(draw, F64):
        return function()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1,
        lambda x: x @ x.mT,
        lambda x: x.softmax(-1),
        lambda x: x.sum(-1),
        lambda x: x.clone().mul_(2),
        lambda x: torch.nn.functional.layer_norm(x, (5,)),
    ],
    ids=["add", "matmul", "softmax", "sum", "in place", "layer norm"],
)
def test_what_computes_is_off_by_a_last_digit(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """By no more than a few of them, and each draw in another way."""
    x = numbers(4, 5)
    plain = function(x)
    shaken, other = otherwise(lambda: function(x)), otherwise(lambda: function(x), 2)
    assert not torch.equal(shaken, plain)
    assert not torch.equal(shaken, other)
    assert torch.allclose(shaken, plain, rtol=10 * DIGIT, atol=10 * DIGIT)
    assert torch.equal(x, numbers(4, 5))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.mT.reshape(-1),
        lambda x: torch.cat([x, x]),
        lambda x: x.masked_fill(x > 1, float("-inf")),
        lambda x: torch.where(x > 1, x, 0.0),
        lambda x: x.sort(dim=-1, descending=True).values,
        lambda x: x[:, [2, 0]],
        lambda x: x.float().double() * 0,
        lambda x: torch.zeros(3, dtype=F64) @ x[:3],
    ],
    ids=["views", "cat", "fill", "where", "sort", "index", "zeros", "products of zeros"],
)
def test_what_moves_numbers_leaves_them_alone(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """So do zeros and infinities."""
    x = numbers(4, 5)
    assert torch.equal(otherwise(lambda: function(x)), function(x))


def test_gradients_are_rounded_otherwise_too() -> None:
    """Also those of a sum of constants, which no input moves."""
    bias = torch.zeros(3, dtype=F64, requires_grad=True)

    def gradient() -> torch.Tensor:
        return torch.autograd.grad(((bias + numbers(4, 3)) * numbers(4, 3)).sum(), bias)[0]

    assert not torch.equal(otherwise(gradient), gradient())


def test_what_has_fewer_digits_than_the_run_is_off_by_far_more() -> None:
    """A table that is float32 by contract may be computed in float32."""
    table = torch.zeros(5, dtype=torch.float32)

    def copied() -> torch.Tensor:
        table.copy_(numbers(5))
        return table.double()

    for function in (lambda: numbers(5).float().double(), copied):
        apart = (otherwise(function) / function() - 1).abs().max()
        assert float(apart) == pytest.approx(COARSE * torch.finfo(torch.float32).eps, rel=0.1)


def test_it_is_the_same_each_time_and_draws_nothing() -> None:
    """Whatever was computed before; the random numbers of a call stay what they are."""
    x = numbers(300, 400)
    torch.manual_seed(3)
    first = otherwise(lambda: x * torch.rand(400, dtype=F64))
    torch.manual_seed(3)
    assert torch.equal(otherwise(lambda: x * torch.rand(400, dtype=F64)), first)
    torch.manual_seed(3)
    assert torch.allclose(x * torch.rand(400, dtype=F64), first, rtol=2 * DIGIT, atol=0)
