"""Hidden cases of gqa: every form of a mask at every size."""

import pytest

from grader.kit.forms import SQUARE, masks


@pytest.mark.mask
@pytest.mark.derive
@pytest.mark.parametrize("kv_heads", ["one key head", "a key head for each"])
def test_every_mask_at_every_size(check, rng, kv_heads):
    """One token, one head, as many sequences as heads: each with each form of a mask."""
    for batch, heads, n, m in SQUARE:
        gqa = check.module(d_model=2 * heads, n_heads=heads, n_kv_heads=1 if kv_heads == "one key head" else heads)
        x = rng.normal(batch, n, 2 * heads)
        for mask in masks(rng, (batch, heads, n, m), of_heads=True):
            gqa(x, mask=mask)
