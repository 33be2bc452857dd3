"""Hidden cases of attention-backward: every form of a mask at every size."""

from functools import partial

import pytest
from cases import several, tensors

from grader.kit.forms import SIZES, masks


@pytest.mark.precise
@pytest.mark.mask
@pytest.mark.derive("grad")
def test_every_mask_at_every_size(check, rng):
    """One query, one sequence, square or not: each with each form of a mask that shows at least two keys."""
    for sizes in (sizes for sizes in SIZES if sizes[-1] > 2):
        batch, _heads, n, m = sizes
        inputs = tensors(rng, batch, n=n, m=m)
        for mask in masks(rng, sizes, drawn=partial(several, rng)):
            check(*inputs, mask)
