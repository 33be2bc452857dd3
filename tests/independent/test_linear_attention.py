"""The reference of linear-attention against plain Python loops over pairs of tokens."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from tests.references import reference

TOLERANCE = 1e-10


def weight(query: list[float], key: list[float]) -> float:
    """Return phi(q) · phi(k), feature by feature."""
    q, k = ([x + 1 if x > 0 else math.exp(x) for x in row] for row in (query, key))
    return math.fsum(a * b for a, b in zip(q, k, strict=True))


def by_hand(q: Tensor, k: Tensor, v: Tensor, causal: bool, eps: float) -> Tensor:
    """Attend pair by pair."""
    n, m = q.size(2), k.size(2)
    out = torch.empty(*q.shape[:3], v.size(3), dtype=torch.float64)
    for b, h, i in itertools.product(range(q.size(0)), range(q.size(1)), range(n)):
        seen = range(m - n + i + 1) if causal else range(m)
        weights = [weight(q[b, h, i].tolist(), k[b, h, j].tolist()) for j in seen]
        for f in range(v.size(3)):
            total = math.fsum(w * v[b, h, j, f].item() for w, j in zip(weights, seen, strict=True))
            out[b, h, i, f] = total / (math.fsum(weights) + eps)
    return out


@pytest.mark.parametrize("eps", [1e-6, 0.7])
@pytest.mark.parametrize(("n", "m", "causal"), [(4, 4, True), (2, 5, True), (4, 4, False), (5, 3, False), (1, 1, True)])
def test_linear_attention(n: int, m: int, causal: bool, eps: float) -> None:
    """Values are those of the loops."""
    q, k, v = (torch.randn(2, 3, *size, dtype=torch.float64) for size in ((n, 5), (m, 5), (m, 4)))
    got = reference("linear-attention").linear_attention(q, k, v, causal, eps)
    torch.testing.assert_close(got, by_hand(q, k, v, causal, eps), rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("causal", [True, False])
def test_gradients(causal: bool) -> None:
    """Gradients are those of finite differences."""
    inputs = [torch.randn(1, 2, 3, size, dtype=torch.float64, requires_grad=True) for size in (3, 3, 2)]
    assert torch.autograd.gradcheck(lambda *x: reference("linear-attention").linear_attention(*x, causal), inputs)
