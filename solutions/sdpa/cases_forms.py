"""Hidden cases of sdpa: every form of a mask at every size."""

import pytest
from cases import tensors

from grader.kit.forms import SIZES, masks


@pytest.mark.mask
@pytest.mark.derive
def test_every_mask_at_every_size(check, rng):
    """One query, one key, one sequence or head, square or not: each with each form of a mask."""
    for sizes in SIZES:
        batch, heads, n, m = sizes
        inputs = tensors(rng, batch, n=n, m=m, d_k=2, d_v=3)
        for mask in masks(rng, sizes):
            check(*inputs, mask)
        inputs = tensors(rng, batch, heads, n=n, m=m, d_k=2, d_v=3)
        for mask in (one for one in masks(rng, sizes, of_heads=True) if one.dim() != 3):
            check(*inputs, mask)
