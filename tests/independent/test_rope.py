"""rope against complex numbers, written out in plain Python."""

from __future__ import annotations

import cmath
import itertools

import pytest
import torch
from torch import Tensor

from tests.references import agree, reference


@pytest.mark.parametrize("base", [10000.0, 50, 2.0])
@pytest.mark.parametrize(("length", "offset"), [(1, 0), (9, 0), (3, 700)])
def test_tables(length: int, offset: int, base: float) -> None:
    """Unit complex numbers, rounded to float32 at the end."""
    cos, sin = reference("rope").rotary_angles(length, 6, base=base, offset=offset)
    assert cos.shape == sin.shape == (length, 3)
    for p, i in itertools.product(range(length), range(3)):
        turn = cmath.exp(1j * (offset + p) / base ** (2 * i / 6))
        want = torch.tensor([turn.real, turn.imag], dtype=torch.float32)
        torch.testing.assert_close(torch.stack([cos[p, i], sin[p, i]]), want, rtol=2e-7, atol=1e-10)


def test_rotation() -> None:
    """A product of complex numbers for each pair; its gradient is the product with the conjugate."""
    torch.manual_seed(7)
    x = torch.randn(2, 3, 5, 8, dtype=torch.float64, requires_grad=True)
    angles = 7 * torch.rand(5, 4, dtype=torch.float64)
    got = reference("rope").apply_rotary(x, angles.cos(), angles.sin())
    upstream = torch.randn_like(got)
    (gradient,) = torch.autograd.grad(got, x, upstream)
    want, slope = torch.empty_like(got), torch.empty_like(got)
    for b, h, p, i in itertools.product(range(2), range(3), range(5), range(4)):
        turn = cmath.exp(1j * angles[p, i].item())
        for source, target, factor in ((x, want, turn), (upstream, slope, turn.conjugate())):
            number = complex(*source[b, h, p, 2 * i : 2 * i + 2].tolist()) * factor
            target[b, h, p, 2 * i], target[b, h, p, 2 * i + 1] = number.real, number.imag
    agree(got, want.detach())
    agree(gradient, slope)
    agree(got.norm(dim=-1), x.norm(dim=-1))


def test_distance() -> None:
    """Scores of turned queries and keys are those that are moved on together."""
    torch.manual_seed(7)
    rope = reference("rope")
    q, k = torch.randn(2, 1, 2, 6, 8, dtype=torch.float64)
    angles = torch.arange(20, dtype=torch.float64)[:, None] / 10000 ** (torch.arange(0, 8, 2) / 8)

    def scores(start: int) -> Tensor:
        cos, sin = angles[start : start + 6].cos(), angles[start : start + 6].sin()
        return rope.apply_rotary(q, cos, sin) @ rope.apply_rotary(k, cos, sin).transpose(-2, -1)

    agree(scores(0), scores(13))
