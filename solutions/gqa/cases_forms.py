"""Hidden cases of gqa: every form of a mask at every size."""

import pytest

from grader.kit.forms import SQUARE, hides, in_turns, masks

GROUPS = {"one key head": lambda heads: (heads, 1), "a key head for each": lambda heads: (heads, heads)}
GROUPS["four heads share one"] = lambda heads: (4 * heads, heads)


@pytest.mark.mask
@pytest.mark.derive("grad")
@pytest.mark.parametrize("kv_heads", GROUPS)
def test_every_mask_at_every_size(check, rng, kv_heads):
    """One token, one head, as many sequences as heads: each with each form of a mask."""
    seen = []
    for turn, (batch, least, n, m) in enumerate(SQUARE):
        heads, groups = GROUPS[kv_heads](least)
        drawn = [*masks(rng, (batch, heads, n, m), of_heads=True)]
        for bias, width, mine in ((True, 2, turn % 2), (False, 1, 1 - turn % 2)):
            gqa = check.module(width * heads, heads, groups, bias=bias)
            x = rng.normal(batch, n, width * heads)
            seen += [(gqa(x, mask=mask)[1], mask) for mask in in_turns(drawn, mine)]
            gqa.train()(x)
    hides(check, seen, of_heads=True)
