"""Hidden cases of self-attention: every form of a mask at every size."""

import pytest

from grader.kit.forms import SQUARE, hides, in_turns, masks


@pytest.mark.mask
@pytest.mark.derive("grad")
def test_every_mask_at_every_size(check, rng):
    """One token, one sequence, as many tokens as sequences: each with each form of a mask."""
    seen = []
    for wide, (bias, d_k, d_v) in enumerate(((True, 3, 1), (False, 1, 2))):
        attention = check.module(d_model=4, d_k=d_k, d_v=d_v, bias=bias)
        for turn, sizes in enumerate(SQUARE):
            x = rng.normal(sizes[0], sizes[2], 4)
            seen += [(attention(x, mask=mask)[1], mask) for mask in in_turns([*masks(rng, sizes)], (turn + wide) % 2)]
            attention.train()(x)
            attention.eval()
    hides(check, seen)
