"""Hidden cases of additive-attention: every form of a mask at every size."""

import pytest
from cases import sequences

from grader.kit.forms import SIZES, masks


@pytest.mark.mask
@pytest.mark.derive
def test_every_mask_at_every_size(check, rng):
    """One query, one key, one sequence, square or not: each with each form of a mask."""
    attention = check.module(query_size=3, key_size=4, num_hiddens=5)
    for sizes in SIZES:
        batch, _heads, n, m = sizes
        inputs = sequences(rng, batch, n, m, (3, 4, 2))
        for mask in masks(rng, sizes):
            attention(*inputs, mask=mask)
