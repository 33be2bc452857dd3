"""The reference of flash-attention against PyTorch's attention."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import reference

TOLERANCE = 1e-10


@pytest.mark.parametrize("block_size", [1, 2, 3, 7, 64])
@pytest.mark.parametrize(
    ("n", "m", "causal"),
    [(7, 7, False), (7, 7, True), (3, 8, True), (1, 5, True), (8, 3, False), (1, 1, True), (70, 70, True)],
)
def test_flash_attention(n: int, m: int, causal: bool, block_size: int) -> None:
    """Values and gradients are those of `F.scaled_dot_product_attention`, whatever the block size."""
    shapes = [(2, 3, n, 5), (2, 3, m, 5), (2, 3, m, 4)]
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    mask = torch.tensor([[not causal or j <= m - n + i for j in range(m)] for i in range(n)])
    got = reference("flash-attention").flash_attention(*inputs, block_size, causal)
    want = F.scaled_dot_product_attention(*inputs, attn_mask=mask)
    torch.testing.assert_close(got, want, rtol=TOLERANCE, atol=TOLERANCE)
    weights = torch.randn_like(want)
    mine, theirs = (torch.autograd.grad((result * weights).sum(), inputs) for result in (got, want))
    torch.testing.assert_close(mine, theirs, rtol=TOLERANCE, atol=TOLERANCE)
