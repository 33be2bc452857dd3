"""Hidden cases of mha: every form of a mask at every size."""

import pytest
from cases import sequences

from grader.kit.forms import SIZES, masks


@pytest.mark.mask
@pytest.mark.derive
def test_every_mask_at_every_size(check, rng):
    """One query, one head, as many sequences as heads, square or not: each with each form of a mask."""
    for batch, heads, n, m in SIZES:
        mha = check.module(d_model=2 * heads, n_heads=heads)
        inputs = sequences(rng, batch, n, m, 2 * heads)
        for mask in masks(rng, (batch, heads, n, m), of_heads=True):
            mha(*inputs, mask=mask)
