"""Hidden cases of encoder-block: every form of a mask at every size."""

import pytest

from grader.kit.forms import MANY, SQUARE, masks


@pytest.mark.mask
@pytest.mark.derive("grad")
def test_every_mask_at_every_size(check, rng):
    """One token, one head, as many sequences as heads: each with each form of a mask."""
    for sizes in SQUARE:
        batch, heads, n, _m = sizes
        width = heads * (2 if n <= MANY else 16)  # of many narrow tokens some hardly vary, and lose digits in a norm
        block = check.module(d_model=width, n_heads=heads, d_ff=3)
        x = rng.normal(batch, n, width)
        for mask in masks(rng, sizes, of_heads=True):
            block(x, mask)
        block.train()(x)
