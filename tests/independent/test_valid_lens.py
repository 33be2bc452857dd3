"""The reference of valid-lens agrees in float64 with plain loops over sequences, queries and keys."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from tests.references import reference

TOLERANCE = 1e-10


def first_keys(scores: list[float], length: int) -> list[float]:
    """Softmax over the first so many numbers, zeros behind them."""
    top = max(scores[:length], default=0.0)
    parts = [math.exp(score - top) for score in scores[:length]]
    return [part / math.fsum(parts) for part in parts] + [0.0] * (len(scores) - length)


LENGTHS = {
    "none": None,
    "sequence": torch.tensor([4, 0]),
    "full": torch.tensor([1, 5]),
    "query": torch.tensor([[2, 5, 0], [1, 4, 3]]),
    "nothing": torch.zeros(2, 3, dtype=torch.int64),
}


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("lens", LENGTHS.values(), ids=LENGTHS)
def test_valid_lens(lens: torch.Tensor | None, scale: float) -> None:
    """Values and gradients, row by row."""
    torch.manual_seed(7)
    scores = (scale * torch.randn(2, 3, 5, dtype=torch.float64)).requires_grad_()
    cotangent = torch.randn(2, 3, 5, dtype=torch.float64)
    weights = reference("valid-lens").masked_softmax(scores, lens)
    (gradient,) = torch.autograd.grad((weights * cotangent).sum(), scores)
    for b, i in itertools.product(range(2), range(3)):
        length = 5 if lens is None else int(lens[b] if lens.dim() == 1 else lens[b, i])
        expected = first_keys(scores[b, i].tolist(), length)
        given = cotangent[b, i].tolist()
        mean = math.fsum(w * c for w, c in zip(expected, given, strict=True))
        slope = [w * (c - mean) for w, c in zip(expected, given, strict=True)]
        for got, want in ((weights[b, i], expected), (gradient[b, i], slope)):
            wanted = torch.tensor(want, dtype=torch.float64)
            torch.testing.assert_close(got.detach(), wanted, rtol=TOLERANCE, atol=TOLERANCE)
