"""Hidden cases of mha: every form of a mask at every size."""

import pytest
from cases import sequences

from grader.kit.forms import SIZES, hides, in_turns, masks


@pytest.mark.mask
@pytest.mark.derive("grad")
def test_every_mask_at_every_size(check, rng):
    """One query, one head, as many sequences as heads, square or not: each with each form of a mask."""
    seen = []
    for turn, sizes in enumerate(SIZES):
        batch, heads, n, m = sizes
        drawn = [*masks(rng, sizes, of_heads=True)]
        for bias, width, mine in ((True, 2, turn % 2), (False, 1, 1 - turn % 2)):
            mha = check.module(d_model=width * heads, n_heads=heads, bias=bias)
            q, k, v = sequences(rng, batch, n, m, width * heads)
            seen += [(mha(q, k, v, mask=mask)[1], mask) for mask in in_turns(drawn, mine)]
            mha.train()(q, k, k)
    hides(check, seen, of_heads=True)
