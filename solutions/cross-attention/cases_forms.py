"""Hidden cases of cross-attention: every form of a mask at every size."""

import pytest

from grader.kit.forms import SIZES, hides, in_turns, masks


@pytest.mark.mask
@pytest.mark.derive("grad")
def test_every_mask_at_every_size(check, rng):
    """One query, one key, one sequence, square or not: each with each form of a mask."""
    seen = []
    for wide, (bias, d_k, d_v) in enumerate(((True, 3, 1), (False, 1, 2))):
        attention = check.module(d_model=4, d_k=d_k, d_v=d_v, bias=bias)
        for turn, sizes in enumerate(SIZES):
            batch, _heads, n, m = sizes
            x, context = rng.normal(batch, n, 4), rng.normal(batch, m, 4)
            for mask in in_turns([*masks(rng, sizes)], (turn + wide) % 2):
                seen.append((attention(x, context, mask=mask)[1], mask))
                if n == m:
                    attention(x, x, mask=mask)
            attention.train()(x, context)
            attention.eval()
    hides(check, seen)
