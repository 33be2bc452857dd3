"""Hidden cases of sdpa: every form of a mask at every size."""

import pytest
from cases import tensors

from grader.kit.forms import SIZES, hides, masks


@pytest.mark.mask
@pytest.mark.derive("grad")
def test_every_mask_at_every_size(check, rng):
    """One query, one key, one sequence or head, square or not: each with each form of a mask."""
    seen = []
    for sizes in SIZES:
        batch, heads, n, m = sizes
        inputs = tensors(rng, batch, n=n, m=m, d_k=2, d_v=3)
        seen += [(check(*inputs, mask)[1], mask) for mask in masks(rng, sizes)]
        check(*inputs)
        inputs = tensors(rng, batch, heads, n=n, m=m, d_k=2, d_v=3)
        for mask in (one for one in masks(rng, sizes, of_heads=True) if one.dim() != 3):
            check(*inputs, mask)
    for _batch, _heads, n, m in dict.fromkeys((1, 1, *sizes[2:]) for sizes in SIZES):
        for mask in masks(rng, (1, 1, n, m)):
            if mask.dim() == 2:
                check(*tensors(rng, n=n, m=m, d_k=2, d_v=3), mask)
        inputs = tensors(rng, 2, 2, 3, n=n, m=m, d_k=2, d_v=3)
        for mask in masks(rng, (2, 3, n, m), of_heads=True):
            if mask.dim() == 4:
                check(*inputs, mask[:, None])
    hides(check, seen)
