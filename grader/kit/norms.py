"""Layer norms of tokens whose mean is thousands of deviations away from 0.

A right norm is off by less than a thousandth there. One whose variance is the mean of the squares less the square of
the mean has lost the digits of the deviations: a square of 2000 is known to a quarter in float32.
"""

from __future__ import annotations

from typing import Any, Final

import torch

from grader.judge.cases.check import Check
from grader.judge.cases.rng import Numbers

LEVEL: Final = 2000.0
FEW_DIGITS: Final = 0.01


def far_tokens(rng: Numbers, *shape: int) -> torch.Tensor:
    """Draw tokens around 2000 that differ by whole numbers whose mean is 0 without any rounding."""
    steps = rng.integers(-1, 2, *shape[:-1], shape[-1] // 2).double()
    steps[..., 0] = 1.0
    return LEVEL + torch.cat([steps, -steps], dim=-1)


def normed(x: torch.Tensor, times: int = 1) -> torch.Tensor:
    """Norm tokens, move them to 2000 and norm them again, so many times."""
    for _time in range(times):
        x = torch.nn.functional.layer_norm(LEVEL + x, x.shape[-1:])
    return x


def check_deviations(check: Check, got: Any, wanted: torch.Tensor) -> None:
    """Tell whether a result has the first digits of what norms make of such tokens."""
    fits = isinstance(got, torch.Tensor) and got.shape == wanted.shape
    check.that(fits, "the result has another shape than the tokens")
    near = fits and bool(((got.double() - wanted).abs() <= FEW_DIGITS * (1.0 + wanted.abs())).all())
    check.that(near, "the deviations have lost their digits")
