"""The reference of packed-attention against PyTorch's attention under a mask of blocks over the whole row."""

from __future__ import annotations

from itertools import accumulate

import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - as everyone writes it

from tests.references import reference

TOLERANCE = 1e-10


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [[5], [1, 1, 1], [3, 0, 4, 1], [0, 2, 0, 0, 6], [4, 4]], ids=str)
def test_packed_attention(lengths: list[int], causal: bool) -> None:
    """Values and gradients are those of `F.scaled_dot_product_attention`, which sees the row as one sequence."""
    total = sum(lengths)
    inputs = [torch.randn(total, 2, width, dtype=torch.float64, requires_grad=True) for width in (5, 5, 3)]
    of = [b for b, length in enumerate(lengths) for _ in range(length)]
    keep = torch.tensor([[of[i] == of[j] and (j <= i or not causal) for j in range(total)] for i in range(total)])
    got = reference("packed-attention").packed_attention(*inputs, [0, *accumulate(lengths)], causal)
    heads_first = (x.transpose(0, 1)[None] for x in inputs)
    want = F.scaled_dot_product_attention(*heads_first, attn_mask=keep)[0].transpose(0, 1)
    torch.testing.assert_close(got, want, rtol=TOLERANCE, atol=TOLERANCE)
    weights = torch.randn_like(want)
    mine, theirs = (torch.autograd.grad((result * weights).sum(), inputs) for result in (got, want))
    torch.testing.assert_close(mine, theirs, rtol=TOLERANCE, atol=TOLERANCE)
