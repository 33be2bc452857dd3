"""lr-schedule against PyTorch's schedulers."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
import torch
from torch.optim import SGD
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LinearLR, SequentialLR

from tests.references import reference


@pytest.mark.parametrize(("d_model", "warmup"), [(512, 4000), (16, 1), (1, 7), (100, 30)])
def test_noam(d_model: int, warmup: int) -> None:
    """The formula in decimal numbers; one step is the peak, and all others are lower."""
    noam = reference("lr-schedule").noam
    for step in (1, 2, warmup - 1 or 1, warmup, warmup + 1, 10 * warmup, 123457):
        rising = Decimal(step) / Decimal(warmup).sqrt() ** 3
        want = min(1 / Decimal(step).sqrt(), rising) / Decimal(d_model).sqrt()
        assert math.isclose(noam(step, d_model, warmup), want, rel_tol=1e-12)
    peak = noam(warmup, d_model, warmup)
    assert all(noam(step, d_model, warmup) < peak for step in (0, warmup - 1, warmup + 1))


@pytest.mark.parametrize("floor", [0.0, 0.02])
@pytest.mark.parametrize(("warmup", "total"), [(10, 50), (1, 9), (7, 8)])
def test_cosine(warmup: int, total: int, floor: float) -> None:
    """LinearLR, which begins at a factor above 0, then CosineAnnealingLR; and the same through LambdaLR."""
    peak, tiny = 0.3, 1e-12
    mine = torch.ones(1, requires_grad=True)
    theirs = torch.ones(1, requires_grad=True)
    by_function, by_torch = SGD([mine], lr=1.0), SGD([theirs], lr=peak)
    function = LambdaLR(by_function, lambda step: reference("lr-schedule").cosine(step, peak, warmup, total, floor))
    line = LinearLR(by_torch, start_factor=tiny, total_iters=warmup)
    wave = CosineAnnealingLR(by_torch, T_max=total - warmup, eta_min=floor)
    schedule = SequentialLR(by_torch, [line, wave], milestones=[warmup])
    for _ in range(total + 1):
        assert math.isclose(function.get_last_lr()[0], schedule.get_last_lr()[0], rel_tol=1e-9, abs_tol=1e-12)
        for optimiser in (by_function, by_torch):
            optimiser.step()
        function.step()
        schedule.step()


def test_the_end() -> None:
    """From the end on nothing changes."""
    cosine = reference("lr-schedule").cosine
    assert {cosine(step, 0.3, 5, 20, 0.1) for step in (20, 21, 35, 40, 1000)} == {0.1}
