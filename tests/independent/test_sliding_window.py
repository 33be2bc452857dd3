"""The reference of sliding-window against PyTorch's attention under a band that is written out pair by pair."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import reference

TOLERANCE = 1e-10


@pytest.mark.parametrize("window", [1, 2, 3, 6, 7, 8, 30])
@pytest.mark.parametrize(("n", "m"), [(7, 7), (1, 7), (4, 7), (1, 1), (2, 3)])
def test_sliding_window(n: int, m: int, window: int) -> None:
    """Values and gradients are those of `F.scaled_dot_product_attention`."""
    shapes = [(2, 3, n, 5), (2, 3, m, 5), (2, 3, m, 4)]
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    band = torch.tensor([[0 <= m - n + i - j < window for j in range(m)] for i in range(n)])
    got = reference("sliding-window").sliding_window_attention(*inputs, window)
    want = F.scaled_dot_product_attention(*inputs, attn_mask=band)
    torch.testing.assert_close(got, want, rtol=TOLERANCE, atol=TOLERANCE)
    weights = torch.randn_like(want)
    mine, theirs = (torch.autograd.grad((result * weights).sum(), inputs) for result in (got, want))
    torch.testing.assert_close(mine, theirs, rtol=TOLERANCE, atol=TOLERANCE)
