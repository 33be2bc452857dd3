"""Hidden cases of encoder-block: every form of a mask at every size."""

import pytest

from grader.kit.forms import SQUARE, masks


@pytest.mark.mask
@pytest.mark.derive("grad")
def test_every_mask_at_every_size(check, rng):
    """One token, one head, as many sequences as heads: each with each form of a mask."""
    for sizes in SQUARE:
        batch, heads, n, _m = sizes
        block = check.module(d_model=2 * heads, n_heads=heads, d_ff=3)
        x = rng.normal(batch, n, 2 * heads)
        for mask in masks(rng, sizes, of_heads=True):
            block(x, mask)
        block.train()(x)
