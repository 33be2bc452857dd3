"""Hidden cases of additive-attention: every form of a mask at every size."""

import pytest
from cases import sequences

from grader.kit.forms import SIZES, hides, in_turns, masks


@pytest.mark.mask
@pytest.mark.derive("grad")
def test_every_mask_at_every_size(check, rng):
    """One query, one key, one sequence, square or not: each with each form of a mask."""
    seen = []
    for wide, num_hiddens in enumerate((1, 5)):
        attention = check.module(query_size=3, key_size=4, num_hiddens=num_hiddens)
        for turn, sizes in enumerate(SIZES):
            batch, _heads, n, m = sizes
            queries, keys, values = sequences(rng, batch, n, m, (3, 4, 2))
            seen += [
                (attention(queries, keys, values, mask=mask)[1], mask)
                for mask in in_turns([*masks(rng, sizes)], (turn + wide) % 2)
            ]
            attention(queries, keys, keys)
            attention.train()(queries, keys, values)
            attention.eval()
    hides(check, seen)
