"""Hidden cases of gqa: masks."""

import pytest
import torch
from cases import dials, tokens

from grader.kit.attention import both_kinds


@pytest.mark.mask
def test_hides_some_keys(check, rng):
    """A mask (B, S, S), one for each sequence, by position."""
    gqa = check.module(d_model=12, n_heads=6, n_kv_heads=2)
    gqa(rng.normal(3, 5, 12), rng.keep(3, 5, 5))


@pytest.mark.mask
def test_everything_visible(check, rng):
    """A mask that hides nothing changes nothing."""
    gqa = check.module(d_model=8, n_heads=4, n_kv_heads=2)
    gqa(rng.normal(2, 5, 8), mask=torch.ones(2, 5, 5, dtype=torch.bool))


@pytest.mark.mask
def test_two_dimensional_mask(check, rng):
    """(S, S) holds for all sequences and heads; B == H == S in the second call, so that other readings would fit."""
    gqa = check.module(d_model=8, n_heads=4, n_kv_heads=2)
    gqa(rng.normal(2, 5, 8), mask=torch.ones(5, 5).tril().bool())
    gqa(rng.normal(4, 4, 8), mask=rng.keep(4, 4))


@pytest.mark.mask
@pytest.mark.parametrize("batch", [2, 3, 6])
def test_three_dimensional_mask_is_per_batch(check, rng, batch):
    """A batch as large as the number of groups, of heads in a group and of heads: broadcasting would fit."""
    gqa = check.module(d_model=12, n_heads=6, n_kv_heads=2)
    gqa(rng.normal(batch, 4, 12), mask=rng.keep(batch, 4, 4))


@pytest.mark.mask
@pytest.mark.parametrize("shape", [(4, 1, 4), (1, 4, 4), (1, 1, 4)])
def test_three_axes_some_of_them_one(check, rng, shape):
    """A padding mask (B, 1, S) or a causal one (1, S, S); B == H == S."""
    gqa = check.module(d_model=8, n_heads=4, n_kv_heads=2)
    gqa(rng.normal(4, 4, 8), mask=rng.keep(*shape))
    gqa(rng.normal(1, 4, 8), mask=rng.keep(1, *shape[1:]))


@pytest.mark.mask
@pytest.mark.parametrize("shape", [(3, 1, 5, 5), (3, 1, 1, 5), (3, 6, 5, 5), (1, 1, 5, 5), (1, 6, 5, 5), (3, 6, 1, 5)])
def test_four_dimensional_mask(check, rng, shape):
    """(B, H, S, S), where any axis but the last may be 1; heads that share their keys see different ones."""
    gqa = check.module(d_model=12, n_heads=6, n_kv_heads=2)
    gqa(rng.normal(3, 5, 12), mask=rng.keep(*shape))


@pytest.mark.mask
def test_four_dimensional_mask_when_all_axes_agree(check, rng):
    """B == H == S, two groups of two: a mask with one axis of size 1 must keep its place."""
    gqa = check.module(d_model=8, n_heads=4, n_kv_heads=2)
    x = rng.normal(4, 4, 8)
    gqa(x, mask=rng.keep(4, 1, 4, 4))
    gqa(x, mask=rng.keep(4, 1, 1, 4))
    gqa(x, mask=rng.keep(4, 4, 4, 4))
    gqa(x, mask=rng.keep(4, 4, 4))
    gqa(x, mask=rng.keep(1, 4, 1, 4))


@pytest.mark.mask
def test_each_head_has_its_own_mask(check, rng):
    """Nothing visible in one head, everything in another one of the same group."""
    gqa = check.module(d_model=12, n_heads=6, n_kv_heads=2)
    mask = rng.keep(2, 6, 4, 4)
    mask[:, 0] = False
    mask[:, 2] = True
    mask[:, 4] = False
    gqa(rng.normal(2, 4, 12), mask=mask)


@pytest.mark.mask
def test_nothing_visible_for_a_query(check, rng):
    """Its weights and its context are 0: what is left is the bias of W_o."""
    gqa = check.module(d_model=8, n_heads=4, n_kv_heads=2, bias=True)
    gqa.set(W_o__bias=rng.normal(8))
    gqa(rng.normal(2, 4, 8), mask=both_kinds(rng, 2, 4, 4))


@pytest.mark.mask
def test_nothing_visible_in_one_sequence(check, rng):
    """An empty sequence in the batch, as a padding mask describes it."""
    gqa = check.module(d_model=8, n_heads=4, n_kv_heads=1)
    mask = rng.keep(3, 1, 1, 5)
    mask[1] = False
    gqa(rng.normal(3, 5, 8), mask=mask)


@pytest.mark.mask
def test_nothing_visible_at_all(check, rng):
    """Everything hidden, for several tokens and for one."""
    gqa = check.module(d_model=8, n_heads=4, n_kv_heads=2)
    gqa(rng.normal(2, 4, 8), mask=torch.zeros(4, 4, dtype=torch.bool))
    gqa(rng.normal(2, 1, 8), mask=torch.zeros(2, 1, 1, dtype=torch.bool))


@pytest.mark.mask
def test_hidden_keys_match_best(check, rng):
    """Hidden keys with scores around 100 and large values: they must not matter."""
    gqa = dials(check.module(d_model=16, n_heads=4, n_kv_heads=2))
    mask = both_kinds(rng, 3, 1, 5)
    hidden = ~mask[:, 0]
    x = tokens(rng, 3, 5)
    x[..., 1][hidden] = 100.0
    x[..., 8:][hidden] = 90.0
    gqa(x, mask=mask)


@pytest.mark.mask
@pytest.mark.derive("grad", "device", "contract")
def test_hidden_keys_match_by_thousands(check, rng):
    """Hidden keys with scores of 60000: whoever merely lowers them, or rescales afterwards, lets them through."""
    gqa = dials(check.module(d_model=16, n_heads=4, n_kv_heads=2))
    mask = both_kinds(rng, 3, 1, 5)
    hidden = ~mask[:, 0]
    x = tokens(rng, 3, 5)
    x[..., 1][hidden] = 6e4
    x[..., 8:][hidden] = 100.0
    gqa(x, mask=mask)


def low_scores(rng, mask, first, step):
    """Draw tokens for `dials`: visible keys score first, first + step, ..., hidden ones near 0."""
    x = tokens(rng, *mask.shape)
    x[..., 2] = 0.0
    levels = first + step * rng.normal(*mask.shape).argsort(-1).double()
    x[..., 1] = torch.where(mask, levels, rng.normal(*mask.shape))
    return x


@pytest.mark.mask
def test_visible_scores_are_very_negative(check, rng):
    """Visible scores of -12288 and less beside hidden ones near 0."""
    gqa = dials(check.module(d_model=16, n_heads=4, n_kv_heads=2))
    mask = rng.keep(2, 6)
    gqa(low_scores(rng, mask, -12288.0, -3072.0), mask=mask[:, None])


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("level", [-(2.0**40), -(2.0**120)])
def test_no_finite_score_is_too_low(check, rng, level):
    """A finite stand-in for minus infinity is only as good as the lowest score it meets."""
    gqa = dials(check.module(d_model=16, n_heads=4, n_kv_heads=2))
    mask = rng.keep(2, 6)
    gqa(low_scores(rng, mask, level, level), mask=mask[:, None, None])


@pytest.mark.mask
def test_common_level_under_a_mask(check, rng):
    """The visible scores share a level of their own; float64 can tell them apart at any level."""
    gqa = dials(check.module(d_model=16, n_heads=4, n_kv_heads=2))
    x = tokens(rng, 2, 5)
    x[..., 1] = 2.0**14 if check.dtype == torch.float64 else 4.0
    gqa(x, mask=both_kinds(rng, 2, 5, 5))


@pytest.mark.mask
@pytest.mark.derive
def test_hidden_tokens_leave_no_trace(check, rng):
    """Tokens that nobody sees are replaced by huge ones: not one bit of the other rows may change."""
    gqa = check.module(d_model=8, n_heads=4, n_kv_heads=2)
    mask = torch.ones(2, 7, 7, dtype=torch.bool)
    mask[:, :, 4:6] = False
    x = rng.normal(2, 7, 8)
    poisoned = x.clone()
    poisoned[:, 4:6] = rng.normal(2, 2, 8, scale=1e4)
    output, weights = gqa(x, mask=mask)
    output_after, weights_after = gqa.run(poisoned, mask=mask)
    rows = [0, 1, 2, 3, 6]
    check.same(output_after.got[:, rows], output.got[:, rows], "a hidden token changes the output of the others")
    after, before = weights_after.got[:, :, rows], weights.got[:, :, rows]
    check.same(after, before, "a hidden token changes the weights of the others")


@pytest.mark.mask
@pytest.mark.derive
def test_mask_counts_for_its_call_only(check, rng):
    """Calls of the same sizes with a mask, with another one and with none: each sees its own tokens and mask."""
    gqa = check.module(d_model=8, n_heads=4, n_kv_heads=2)
    gqa(rng.normal(2, 5, 8), mask=rng.keep(2, 5, 5))
    gqa(rng.normal(2, 5, 8), mask=rng.keep(2, 5, 5))
    gqa(rng.normal(2, 5, 8))


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
def test_the_visible_score_is_the_lowest(check, rng):
    """The only visible key matches worst of all: there is no room below it."""
    gqa = dials(check.module(d_model=16, n_heads=4, n_kv_heads=2))
    mask = torch.nn.functional.one_hot(rng.integers(0, 6, 2), 6).bool()[:, None]
    x = tokens(rng, 2, 6)
    x[..., 1] = torch.where(mask[:, 0], -(2.0**40), 0.0)
    x[..., 2:4] = 0.0
    gqa(x, mask=mask)


@pytest.mark.mask
@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_under_a_mask(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: what is hidden stays hidden."""
    for sizes, batch, length in (((1, 1, 1), 1, 3), ((18, 9, 9), 2, 3), ((5, 1, 1), 5, 5), ((4, 2, 1), 4, 4)):
        check.module(*sizes)(rng.normal(batch, length, sizes[0]), mask=rng.keep(length, length))
    narrow = check.module(d_model=4, n_heads=2, n_kv_heads=2)
    narrow(rng.normal(1, 300, 4), mask=rng.keep(1, 300, 300))
    narrow(rng.normal(2, 2, 4), mask=rng.keep(2, 2, 2))


@pytest.mark.mask
def test_one_key_head_and_as_many_sequences_as_heads(check, rng):
    """One key head for all, B == H: three axes of a mask are still per sequence."""
    for n_heads in (2, 3):
        gqa = check.module(d_model=6, n_heads=n_heads, n_kv_heads=1)
        for shape in ((n_heads, 4, 4), (n_heads, 1, 4), (1, 4, 4)):
            gqa(rng.normal(n_heads, 4, 6), mask=rng.keep(*shape))
