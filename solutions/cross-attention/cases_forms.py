"""Hidden cases of cross-attention: every form of a mask at every size."""

import pytest

from grader.kit.forms import SIZES, masks


@pytest.mark.mask
@pytest.mark.derive
def test_every_mask_at_every_size(check, rng):
    """One query, one key, one sequence, square or not: each with each form of a mask."""
    attention = check.module(d_model=4, d_k=3)
    for sizes in SIZES:
        batch, _heads, n, m = sizes
        x, context = rng.normal(batch, n, 4), rng.normal(batch, m, 4)
        for mask in masks(rng, sizes):
            attention(x, context, mask=mask)
