"""Hidden cases of mha: masks."""

import pytest
import torch
from cases import bare, sequences

from grader.kit.attention import both_kinds


def low_scores(rng, mask, first, step):
    """Make inputs for two bare heads of width 4: visible keys score first, first + step, ..., hidden ones near 0."""
    batch, keys = mask.shape
    q, k, v = sequences(rng, batch, 2, keys, 8)
    q[:] = 0.0
    q[:, :, [0, 4]] = 2.0
    for feature in (0, 4):
        levels = first + step * rng.normal(batch, keys).argsort(-1).double()
        k[:, :, feature] = torch.where(mask, levels, rng.normal(batch, keys))
    return q, k, v


@pytest.mark.mask
def test_hides_some_keys(check, rng):
    """A mask (B, n, m), one for each sequence."""
    mha = check.module(d_model=6, n_heads=3)
    mha(*sequences(rng, 2, 3, 5, 6), mask=rng.keep(2, 3, 5))


@pytest.mark.mask
def test_everything_visible(check, rng):
    """A mask that hides nothing changes nothing; it is the fourth argument."""
    mha = check.module(d_model=6, n_heads=3)
    mha(*sequences(rng, 2, 3, 5, 6), torch.ones(2, 3, 5, dtype=torch.bool))


@pytest.mark.mask
def test_two_dimensional_mask(check, rng):
    """(n, m) holds for all sequences and heads; B == H == n, so that other readings would fit."""
    mha = check.module(d_model=6, n_heads=3)
    mha(*sequences(rng, 3, 3, 5, 6), mask=rng.keep(3, 5))
    mha(*sequences(rng, 2, 4, 5, 6), mask=rng.keep(4, 5))


@pytest.mark.mask
def test_three_dimensional_mask_is_per_batch(check, rng):
    """B == H, where broadcasting over heads gives a plausible wrong answer."""
    mha = check.module(d_model=12, n_heads=3)
    x = rng.normal(3, 5, 12)
    mha(x, x, x, mask=rng.keep(3, 5, 5))


@pytest.mark.mask
@pytest.mark.parametrize("shape", [(3, 1, 5), (1, 3, 5), (1, 1, 5)])
def test_three_axes_some_of_them_one(check, rng, shape):
    """A padding mask (B, 1, m) or a causal one (1, n, m); B == H == n."""
    mha = check.module(d_model=6, n_heads=3)
    mha(*sequences(rng, 3, 3, 5, 6), mask=rng.keep(*shape))
    mha(*sequences(rng, 1, 3, 5, 6), mask=rng.keep(1, *shape[1:]))


@pytest.mark.mask
@pytest.mark.parametrize("shape", [(3, 1, 4, 5), (3, 1, 1, 5), (3, 2, 4, 5), (1, 1, 4, 5), (1, 2, 4, 5), (3, 2, 1, 5)])
def test_four_dimensional_mask(check, rng, shape):
    """(B, H, n, m), where any axis but the last may be 1."""
    mha = check.module(d_model=6, n_heads=2)
    mha(*sequences(rng, 3, 4, 5, 6), mask=rng.keep(*shape))


@pytest.mark.mask
def test_four_dimensional_mask_when_all_axes_agree(check, rng):
    """B == H == n == m: a mask with one axis of size 1 must keep its place."""
    mha = check.module(d_model=6, n_heads=3)
    x = rng.normal(3, 3, 6)
    mha(x, x, x, mask=rng.keep(3, 1, 3, 3))
    mha(x, x, x, mask=rng.keep(3, 1, 1, 3))
    mha(x, x, x, mask=rng.keep(3, 3, 3, 3))
    mha(x, x, x, mask=rng.keep(3, 3, 3))
    mha(x, x, x, mask=rng.keep(3, 3))


@pytest.mark.mask
def test_each_head_has_its_own_mask(check, rng):
    """Nothing visible in one head, everything in another."""
    mha = check.module(d_model=6, n_heads=3)
    mask = rng.keep(2, 3, 4, 5)
    mask[:, 0] = False
    mask[:, 2] = True
    mha(*sequences(rng, 2, 4, 5, 6), mask=mask)


@pytest.mark.mask
def test_nothing_visible_for_a_query(check, rng):
    """Its weights and its context are 0: what is left is the bias of W_o."""
    mha = check.module(d_model=6, n_heads=2)
    mha.set(W_o__bias=rng.normal(6))
    mha(*sequences(rng, 2, 4, 5, 6), mask=both_kinds(rng, 2, 4, 5))


@pytest.mark.mask
def test_nothing_visible_in_one_sequence(check, rng):
    """An empty sequence in the batch, as a padding mask describes it."""
    mha = check.module(d_model=6, n_heads=2)
    mask = rng.keep(3, 1, 1, 5)
    mask[1] = False
    mha(*sequences(rng, 3, 4, 5, 6), mask=mask)


@pytest.mark.mask
def test_nothing_visible_at_all(check, rng):
    """Everything hidden, for several keys and for one."""
    mha = check.module(d_model=6, n_heads=2)
    mha(*sequences(rng, 2, 3, 4, 6), mask=torch.zeros(3, 4, dtype=torch.bool))
    mha(*sequences(rng, 2, 3, 1, 6), mask=torch.zeros(2, 3, 1, dtype=torch.bool))


@pytest.mark.mask
def test_hidden_keys_match_best(check, rng):
    """Hidden keys with scores around 100 and large values: they must not matter."""
    mha = bare(check.module(d_model=8, n_heads=2), 8)
    mask = both_kinds(rng, 3, 1, 5)
    hidden = ~mask.transpose(1, 2)
    q, k, v = sequences(rng, 3, 3, 5, 8)
    q[:, :, [0, 4]] = 4.0
    mha(q, torch.where(hidden, 50.0 + rng.normal(3, 5, 8), k), torch.where(hidden, 90.0, v), mask=mask)


@pytest.mark.mask
@pytest.mark.derive("grad", "device", "contract")
def test_hidden_keys_match_by_thousands(check, rng):
    """Hidden keys with scores of 60000: whoever merely lowers them, or rescales afterwards, lets them through."""
    mha = bare(check.module(d_model=8, n_heads=2), 8)
    mask = both_kinds(rng, 3, 1, 5)
    hidden = ~mask.transpose(1, 2)
    q, k, v = sequences(rng, 3, 3, 5, 8)
    q[:, :, [0, 4]] = 4.0
    poison = torch.zeros(8, dtype=torch.float64)
    poison[[0, 4]] = 3e4
    mha(q, torch.where(hidden, poison + rng.normal(3, 5, 8), k), torch.where(hidden, 100.0, v), mask=mask)


@pytest.mark.mask
def test_visible_scores_are_very_negative(check, rng):
    """Visible scores of -12288 and less beside hidden ones near 0."""
    mha = bare(check.module(d_model=8, n_heads=2), 8)
    mask = rng.keep(2, 6)
    mha(*low_scores(rng, mask, -12288.0, -3072.0), mask=mask[:, None])


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize(("first", "step"), [(-7e4, -4e3), (-(2.0**40), -(2.0**40)), (-(2.0**120), -(2.0**120))])
def test_no_finite_score_is_too_low(check, rng, first, step):
    """A finite stand-in for minus infinity is only as good as the lowest score it meets."""
    mha = bare(check.module(d_model=8, n_heads=2), 8)
    mask = rng.keep(2, 6)
    mha(*low_scores(rng, mask, first, step), mask=mask[:, None, None])


@pytest.mark.mask
def test_common_level_under_a_mask(check, rng):
    """The visible scores share a level of their own; float64 can tell them apart at any level."""
    mha = bare(check.module(d_model=8, n_heads=2), 8)
    q, k, v = sequences(rng, 2, 3, 5, 8)
    q[:, :, [0, 4]] = 2.0
    k[:, :, [0, 4]] = 2.0**14 if check.dtype == torch.float64 else 4.0
    mha(q, k, v, mask=both_kinds(rng, 2, 3, 5))


@pytest.mark.mask
def test_what_is_hidden_leaves_no_trace(check, rng):
    """Changing hidden keys and values must not change one bit of output or weights."""
    mha = check.module(d_model=8, n_heads=2)
    mask = rng.keep(2, 1, 6)
    hidden = ~mask.transpose(1, 2)
    q, k, v = sequences(rng, 2, 4, 6, 8)
    before = mha(q, k, v, mask=mask)
    other_k, other_v = rng.normal(2, 6, 8, scale=30.0), rng.normal(2, 6, 8, scale=30.0)
    after = mha(q, torch.where(hidden, other_k, k), torch.where(hidden, other_v, v), mask=mask)
    check.same(before, after, "the result moved when only hidden keys and values were changed")


@pytest.mark.mask
@pytest.mark.derive("dtype", "grad", "device")
def test_future_leaves_no_trace(check, rng):
    """Under a causal mask the first positions do not feel the last token."""
    mha = check.module(d_model=8, n_heads=2)
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    x = rng.normal(2, 5, 8)
    changed = x.clone()
    changed[:, 4] = rng.normal(2, 8, scale=5.0)
    before, _ = mha(x, x, x, mask=causal)
    after, _ = mha.run(changed, changed, changed, mask=causal)
    check.that(
        torch.equal(before.got[:, :4], after.got[:, :4]), "earlier positions moved when only the last token changed"
    )


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
def test_the_visible_score_is_the_lowest(check, rng):
    """The only visible key matches worst of all: there is no room below it."""
    mha = bare(check.module(d_model=8, n_heads=2), 8)
    mask = torch.nn.functional.one_hot(rng.integers(0, 6, 2), 6).bool()
    mha(*low_scores(rng, mask, -(2.0**40), 0.0), mask=mask[:, None])


@pytest.mark.mask
@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_under_a_mask(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: what is hidden stays hidden."""
    for d_model, n_heads in ((1, 1), (5, 1)):
        check.module(d_model, n_heads)(*sequences(rng, 5, 3, 5, d_model), mask=rng.keep(5, 3, 5))
    mha = check.module(d_model=4, n_heads=2, bias=False)
    mha(*sequences(rng, 2, 1, 300, 4), mask=rng.keep(2, 1, 300))
    mha(*sequences(rng, 1, 300, 4, 4), mask=rng.keep(300, 4))
    q, k, v = sequences(rng, 2, 3, 5, 4)
    mha(3e4 * q, k / 3e4, v, mask=rng.keep(3, 5))


@pytest.mark.mask
def test_one_query_under_a_mask(check, rng):
    """A single query, as in decoding: it sees no more than its mask shows."""
    mha = check.module(d_model=6, n_heads=2)
    mask = rng.keep(3, 1, 5)
    mask[1] = False
    mha(*sequences(rng, 3, 1, 5, 6), mask=mask)
    mha(*sequences(rng, 1, 1, 5, 6), mask=rng.keep(1, 5))
