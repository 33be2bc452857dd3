"""Hidden cases of kv-cache: padding and the future."""

import pytest
import torch
from cases import feed, left_padding, without_grad

from grader.kit.attention import collinear_tokens, exact_projections


@pytest.mark.mask
@pytest.mark.derive
@pytest.mark.parametrize("past", [0, 3])
def test_later_tokens_leave_no_trace(check, rng, past):
    """Later tokens are replaced: not one bit of the earlier outputs may change, with and without a cache."""
    attention = check.module(d_model=6, n_heads=2)
    x, cache = rng.normal(2, 6, 6), (rng.normal(2, 2, past, 3), rng.normal(2, 2, past, 3))
    other = torch.cat([x[:, :3], rng.normal(2, 3, 6, scale=100.0)], dim=1)
    before = attention(x, cache=cache if past else None)[0].got
    after = attention.run(other, cache=cache if past else None)[0].got
    check.same(after[:, :3], before[:, :3], "an output depends on a later token")


@pytest.mark.mask
@pytest.mark.parametrize("lengths", [[5, 3, 1], [4, 0, 2], [3]])
def test_left_padding(check, rng, lengths):
    """Prompts of these lengths, aligned to the right; a length of 0 is padding only."""
    attention = check.module(d_model=6, n_heads=2)
    attention(rng.normal(len(lengths), 5, 6), padding_mask=left_padding(lengths, 5))


@pytest.mark.mask
def test_left_padding_when_batch_heads_and_length_are_equal(check, rng):
    """B == H == T: the mask goes by sequence and key."""
    attention = check.module(d_model=6, n_heads=3)
    attention(rng.normal(3, 3, 6), padding_mask=left_padding([1, 3, 2], 3))


@pytest.mark.mask
def test_right_padding(check, rng):
    """Padding at the end."""
    attention = check.module(d_model=6, n_heads=2)
    attention(rng.normal(2, 5, 6), padding_mask=torch.arange(5) < torch.tensor([[3], [5]]))


@pytest.mark.mask
def test_padding_anywhere(check, rng):
    """Any pattern of hidden tokens, with as many sequences as heads."""
    attention = check.module(d_model=8, n_heads=4)
    attention(rng.normal(4, 6, 8), padding_mask=rng.keep(4, 6))


@pytest.mark.mask
def test_padding_mask_that_hides_nothing(check, rng):
    """A mask of nothing but True changes nothing: the attention is still causal."""
    attention = check.module(d_model=6, n_heads=2)
    attention(rng.normal(2, 4, 6), padding_mask=torch.ones(2, 4, dtype=torch.bool))


@pytest.mark.mask
def test_padded_tokens_see_nothing(check, rng):
    """A token that sees nothing has a context of 0, so its output is the bias of W_o, exactly."""
    attention = check.module(d_model=6, n_heads=2)
    mask = left_padding([2, 4], 5)
    output, _ = attention(rng.normal(2, 5, 6), padding_mask=mask)
    blind = output.got[~mask]
    check.same(blind, blind[:1].expand_as(blind), "tokens that see nothing have different outputs")


@pytest.mark.mask
def test_padding_without_biases(check, rng):
    """With bias=False a token that sees nothing has an output of 0."""
    attention = check.module(d_model=6, n_heads=2, bias=False)
    attention(rng.normal(2, 4, 6), padding_mask=left_padding([3, 0], 4))


@pytest.mark.mask
@without_grad
@pytest.mark.parametrize("sizes", [[4, 1, 1, 2], [2, 3, 1, 2], [1] * 8])
def test_left_padding_and_chunks(check, rng, sizes):
    """The mask covers old and new tokens; where a chunk ends within the padding, it sees nothing at all."""
    attention = check.module(d_model=6, n_heads=2)
    feed(attention, rng.normal(3, 8, 6), sizes, left_padding([8, 5, 2], 8))


@pytest.mark.mask
@without_grad
def test_padding_and_chunks_of_equal_sizes(check, rng):
    """B == H == n == T - n."""
    attention = check.module(d_model=6, n_heads=3)
    feed(attention, rng.normal(3, 6, 6), [3, 3], rng.keep(3, 6))


@pytest.mark.mask
@without_grad
def test_padding_in_the_cache_only(check, rng):
    """Only old tokens are hidden."""
    attention = check.module(d_model=6, n_heads=2)
    mask = torch.cat([rng.keep(2, 4), torch.ones(2, 2, dtype=torch.bool)], dim=1)
    attention(rng.normal(2, 2, 6), cache=(rng.normal(2, 2, 4, 3), rng.normal(2, 2, 4, 3)), padding_mask=mask)


@pytest.mark.mask
@without_grad
def test_padding_in_the_chunk_only(check, rng):
    """Only new tokens are hidden; arguments by position."""
    attention = check.module(d_model=6, n_heads=2)
    mask = torch.cat([torch.ones(2, 3, dtype=torch.bool), rng.keep(2, 4)], dim=1)
    attention(rng.normal(2, 4, 6), (rng.normal(2, 2, 3, 3), rng.normal(2, 2, 3, 3)), mask)


@pytest.mark.mask
@without_grad
def test_steps_that_see_little(check, rng):
    """A new token that is padding itself still sees the real past; where all is padding, it sees nothing."""
    attention = check.module(d_model=6, n_heads=2)
    mask = torch.tensor([[True, False, True, True], [False, True, True, False], [False, False, False, False]])
    attention(rng.normal(3, 1, 6), cache=(rng.normal(3, 2, 3, 3), rng.normal(3, 2, 3, 3)), padding_mask=mask)


@pytest.mark.mask
@without_grad
def test_empty_cache_with_padding(check, rng):
    """A cache of length 0 and a mask of the new tokens."""
    attention = check.module(d_model=6, n_heads=2)
    empty = torch.zeros(2, 2, 0, 3, dtype=torch.float64)
    attention(rng.normal(2, 4, 6), cache=(empty, empty.clone()), padding_mask=left_padding([4, 2], 4))


@pytest.mark.mask
@pytest.mark.derive("dtype", "device")
def test_padding_makes_no_difference_to_a_sequence(check, rng):
    """A sequence comes out the same alone and left-padded in a batch, prompt and decoded token alike."""
    attention = check.module(d_model=6, n_heads=2)
    batch, mask = rng.normal(2, 6, 6), left_padding([6, 4], 6)
    alone = feed(attention, batch[1:, 2:], [3, 1])
    padded = feed(attention, batch, [5, 1], mask)
    message = "a left-padded sequence has other outputs than the same sequence alone"
    check.close(padded[0][0].got[1:, 2:], alone[0][0].got, message)
    check.close(padded[1][0].got[1:], alone[1][0].got, message)


@pytest.mark.mask
@pytest.mark.derive
def test_padded_tokens_leave_no_trace(check, rng):
    """What stands at padded positions is replaced by huge numbers: not one bit of the real outputs may change."""
    attention = check.module(d_model=6, n_heads=2)
    x, mask = rng.normal(2, 6, 6), left_padding([4, 5], 6)
    poisoned = torch.where(mask[:, :, None], x, rng.normal(2, 6, 6, scale=1e4))
    before = attention(x, padding_mask=mask)[0].got
    after = attention.run(poisoned, padding_mask=mask)[0].got
    check.same(after[mask], before[mask], "a padded token changes the output of a real one")


@pytest.mark.mask
@pytest.mark.derive
def test_padding_in_the_cache_leaves_no_trace(check, rng):
    """Hidden keys and values of the cache are replaced by huge ones."""
    attention = check.module(d_model=6, n_heads=2)
    x, mask = rng.normal(2, 3, 6), torch.cat([rng.keep(2, 5), torch.ones(2, 3, dtype=torch.bool)], dim=1)
    keys, values = rng.normal(2, 2, 5, 3), rng.normal(2, 2, 5, 3)
    seen = mask[:, None, :5, None]
    other_keys = torch.where(seen, keys, rng.normal(2, 2, 5, 3, scale=1e4))
    other_values = torch.where(seen, values, rng.normal(2, 2, 5, 3, scale=1e3))
    before = attention(x, cache=(keys, values), padding_mask=mask)[0].got
    after = attention.run(x, cache=(other_keys, other_values), padding_mask=mask)[0].got
    check.same(after, before, "a hidden position of the cache changes the output")


@pytest.mark.mask
@pytest.mark.derive
def test_mask_counts_for_its_call_only(check, rng):
    """Calls of the same sizes with a padding mask, with another one and with none: each goes by its own."""
    attention = check.module(d_model=6, n_heads=2)
    attention(rng.normal(2, 4, 6), padding_mask=rng.keep(2, 4))
    attention(rng.normal(2, 4, 6), padding_mask=rng.keep(2, 4))
    attention(rng.normal(2, 4, 6))


@pytest.mark.mask
@without_grad
def test_visible_scores_far_below_zero(check, rng):
    """All visible scores lie below the hidden ones, most of them below -10000: the hidden keys must not win."""
    attention = check.module(d_model=4, n_heads=1, bias=False)
    exact_projections(attention, -24.0)
    x, levels = collinear_tokens(rng, 3)
    feed(attention, x, [3, 1], levels > 2)


@pytest.mark.mask
@pytest.mark.derive("device")
def test_visible_scores_below_minus_a_billion(check, rng):
    """No finite score is low enough to stand for a hidden key, be it padding or the future."""
    attention = check.module(d_model=4, n_heads=1, bias=False)
    exact_projections(attention, -(2.0**55))
    x, levels = collinear_tokens(rng, 3)
    attention(x)
    feed(attention, x, [2, 2], levels > 2)


@pytest.mark.mask
@without_grad
def test_hidden_scores_far_above_the_visible_ones(check, rng):
    """The largest scores are hidden: the visible keys still share a weight of 1."""
    attention = check.module(d_model=4, n_heads=1, bias=False)
    exact_projections(attention, 24.0)
    x, levels = collinear_tokens(rng, 3)
    feed(attention, x, [1, 3], levels < 3)


@pytest.mark.mask
@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_under_a_mask(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: what is hidden stays hidden."""
    check.module(d_model=1, n_heads=1)(rng.normal(3, 3, 1), padding_mask=rng.keep(3, 3))
    attention = check.module(d_model=4, n_heads=2)
    attention(rng.normal(4, 3, 4), padding_mask=rng.keep(4, 3))
    attention(rng.normal(1, 300, 4), padding_mask=rng.keep(1, 300))
