"""Hidden cases of self-attention: every form of a mask at every size."""

import pytest

from grader.kit.forms import SQUARE, masks


@pytest.mark.mask
@pytest.mark.derive
def test_every_mask_at_every_size(check, rng):
    """One token, one sequence, as many tokens as sequences: each with each form of a mask."""
    attention = check.module(d_model=4, d_k=3)
    for sizes in SQUARE:
        x = rng.normal(sizes[0], sizes[2], 4)
        for mask in masks(rng, sizes):
            attention(x, mask=mask)
