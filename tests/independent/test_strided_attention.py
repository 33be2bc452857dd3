"""The reference of strided-attention against PyTorch's attention under a mask that is written out pair by pair."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import reference

TOLERANCE = 1e-10


def keys_of(query: int, stride: int) -> set[int]:
    """Which keys a query sees: walk back one by one, then in strides."""
    near = range(max(0, query - stride + 1), query + 1)
    return {*near, *range(query, -1, -stride)}


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 6, 12, 13, 30])
@pytest.mark.parametrize("n", [1, 2, 5, 12, 13])
def test_strided_attention(n: int, stride: int) -> None:
    """Values and gradients are those of `F.scaled_dot_product_attention`, and the mask is what it is said to be."""
    inputs = [torch.randn(2, 3, n, width, dtype=torch.float64, requires_grad=True) for width in (5, 5, 4)]
    keep = torch.tensor([[j in keys_of(i, stride) for j in range(n)] for i in range(n)])
    kata = reference("strided-attention")
    assert torch.equal(kata.strided_mask(n, stride), keep)
    got = kata.strided_attention(*inputs, stride)
    want = F.scaled_dot_product_attention(*inputs, attn_mask=keep)
    torch.testing.assert_close(got, want, rtol=TOLERANCE, atol=TOLERANCE)
    weights = torch.randn_like(want)
    mine, theirs = (torch.autograd.grad((result * weights).sum(), inputs) for result in (got, want))
    torch.testing.assert_close(mine, theirs, rtol=TOLERANCE, atol=TOLERANCE)
