"""Hidden cases of decoder-block: every form of a mask of the memory at every size."""

import itertools

import pytest

from grader.kit.forms import MANY, SIZES, masks


@pytest.mark.mask
@pytest.mark.derive("grad")
def test_every_mask_at_every_size(check, rng):
    """One token, one position of the memory, as many sequences as heads: each with each form of a mask."""
    for sizes in SIZES:
        batch, heads, n, m = sizes
        d_head = 2 if n <= MANY else 16  # of many narrow tokens some hardly vary, and lose digits in a norm
        width = heads * d_head
        block = check.module(d_model=width, n_heads=heads, d_ff=3)
        x, memory = rng.normal(batch, n, width), rng.normal(batch, m, width)
        pasts = [None, tuple(rng.normal(2, batch, heads, 0, d_head))]
        for length in (1, 2):  # made by the block: no gradient has to reach a cache
            _, past = block(rng.normal(batch, length, width), memory)
            pasts.append(past)
        for mask, cache in zip(masks(rng, sizes, of_heads=True), itertools.cycle(pasts), strict=False):
            block(x, memory, cache, memory_mask=mask)
        for cache in pasts:
            block.train()(x, memory, cache)
