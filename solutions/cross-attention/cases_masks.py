"""Hidden cases of cross-attention: masks."""

import pytest
import torch
from cases import without_dtype, without_grad

from grader.kit.attention import HALVES, collinear_tokens, exact_projections


@pytest.mark.mask
def test_mask_per_sequence(check, rng):
    """A three-dimensional mask has its own rows for each sequence of the batch."""
    attention = check.module(d_model=6, d_k=4)
    attention(rng.normal(3, 4, 6), rng.normal(3, 5, 6), mask=rng.keep(3, 4, 5))


@pytest.mark.mask
def test_mask_for_all_sequences(check, rng):
    """A two-dimensional mask (n, m) is the same for the whole batch."""
    attention = check.module(d_model=6, d_k=3, d_v=4, d_context=5)
    attention(rng.normal(2, 4, 6), rng.normal(2, 7, 5), mask=rng.keep(4, 7))


@pytest.mark.mask
@without_dtype
def test_two_dimensional_mask_when_batch_equals_queries(check, rng):
    """B == n: the two axes of the mask are still queries and keys."""
    attention = check.module(d_model=5, d_k=4)
    attention(rng.normal(4, 4, 5), rng.normal(4, 6, 5), mask=rng.keep(4, 6))


@pytest.mark.mask
def test_padding_of_the_context(check, rng):
    """A mask (B, 1, m) hides keys from all queries of its sequence."""
    attention = check.module(d_model=6, d_k=4, d_context=3, bias=True)
    attention(rng.normal(3, 4, 6), rng.normal(3, 6, 3), mask=rng.keep(3, 1, 6))


@pytest.mark.mask
@without_dtype
def test_padding_when_batch_and_lengths_are_equal(check, rng):
    """B == n == m: a mask (B, 1, m) still goes by sequence and key."""
    attention = check.module(d_model=5, d_k=3)
    attention(rng.normal(4, 4, 5), rng.normal(4, 4, 5), mask=rng.keep(4, 1, 4))


@pytest.mark.mask
@without_dtype
def test_square_mask_goes_by_query_and_key(check, rng):
    """Rows of a square mask are queries, columns are keys."""
    attention = check.module(d_model=5, d_k=3)
    attention(rng.normal(2, 4, 5), rng.normal(2, 4, 5), mask=rng.keep(2, 4, 4))


@pytest.mark.mask
@without_dtype
def test_mask_with_a_leading_one(check, rng):
    """A mask (1, n, m) is shared by the batch."""
    attention = check.module(d_model=4, d_k=3)
    attention(rng.normal(2, 3, 4), rng.normal(2, 5, 4), mask=rng.keep(1, 3, 5))


@pytest.mark.mask
@without_dtype
def test_mask_passed_by_position(check, rng):
    """The mask is the third argument."""
    attention = check.module(d_model=4, d_k=3)
    attention(rng.normal(2, 3, 4), rng.normal(2, 4, 4), rng.keep(2, 3, 4))


@pytest.mark.mask
@without_dtype
def test_mask_that_hides_nothing(check, rng):
    """A mask of nothing but True changes nothing."""
    attention = check.module(d_model=4, d_k=3)
    attention(rng.normal(2, 3, 4), rng.normal(2, 4, 4), mask=torch.ones(3, 4, dtype=torch.bool))


@pytest.mark.mask
def test_queries_that_see_nothing(check, rng):
    """A query without a visible key gets weights 0 and an output of 0; its neighbours are not disturbed."""
    attention = check.module(d_model=6, d_k=4, d_v=3, bias=True)
    mask = rng.keep(3, 5, 4)
    mask[0, 2] = False
    mask[2, 0] = False
    mask[2, 4] = False
    attention(rng.normal(3, 5, 6), rng.normal(3, 4, 6), mask=mask)


@pytest.mark.mask
def test_empty_context(check, rng):
    """The context of one sequence is padding from end to end."""
    attention = check.module(d_model=4, d_k=3, d_context=5)
    mask = rng.keep(3, 1, 4)
    mask[1] = False
    attention(rng.normal(3, 2, 4), rng.normal(3, 4, 5), mask=mask)


@pytest.mark.mask
def test_nothing_visible_at_all(check, rng):
    """Everything is hidden, from everyone."""
    attention = check.module(d_model=4, d_k=3)
    attention(rng.normal(2, 3, 4), rng.normal(2, 5, 4), mask=torch.zeros(3, 5, dtype=torch.bool))


@pytest.mark.mask
@without_dtype
def test_only_key_hidden(check, rng):
    """A single key, and one sequence must not see even that."""
    attention = check.module(d_model=4, d_k=3, bias=True)
    attention(rng.normal(2, 3, 4), rng.normal(2, 1, 4), mask=torch.tensor([[[True]], [[False]]]))


@pytest.mark.mask
def test_one_visible_key(check, rng):
    """Where one key is visible, its weight is exactly 1 and every other weight exactly 0."""
    attention = check.module(d_model=5, d_k=4)
    mask = torch.eye(6, dtype=torch.bool)[rng.permutation(6)[:4]]
    _, weights = attention(rng.normal(2, 4, 5), rng.normal(2, 6, 5), mask=mask)
    check.that((weights.got == mask).all(), "a query with one visible key gives it a weight other than 1")


@pytest.mark.mask
@without_dtype
def test_weights_of_hidden_keys_are_zero(check, rng):
    """What is hidden has a weight of exactly 0, and the visible keys of a row share a weight of 1."""
    attention = check.module(d_model=6, d_k=4)
    mask = rng.keep(3, 4, 6)
    _, weights = attention(rng.normal(3, 4, 6), rng.normal(3, 6, 6), mask=mask)
    check.that((weights.got[~mask] == 0).all(), "a hidden key has a weight other than 0")


@pytest.mark.mask
def test_visible_scores_far_below_zero(check, rng):
    """All visible scores lie below the hidden ones, most of them below -10000: the hidden keys must not win."""
    attention = check.module(d_model=4, d_k=4)
    exact_projections(attention, -24.0)
    (x_q, _), (x_kv, levels) = collinear_tokens(rng, 3), collinear_tokens(rng, 3)
    attention(x_q, x_kv, mask=levels[:, None, :] > 2)


@pytest.mark.mask
@without_grad
def test_visible_scores_below_minus_a_billion(check, rng):
    """No finite score is low enough to stand for a hidden key."""
    attention = check.module(d_model=4, d_k=4)
    exact_projections(attention, -24.0 if check.dtype in HALVES else -(2.0**55))
    (x_q, _), (x_kv, levels) = collinear_tokens(rng, 3), collinear_tokens(rng, 3)
    attention(x_q, x_kv, mask=levels[:, None, :] > 2)


@pytest.mark.mask
def test_hidden_scores_far_above_the_visible_ones(check, rng):
    """The largest scores of each row are hidden: the visible keys still share a weight of 1."""
    attention = check.module(d_model=4, d_k=4)
    exact_projections(attention, 24.0)
    (x_q, _), (x_kv, levels) = collinear_tokens(rng, 3), collinear_tokens(rng, 3)
    attention(x_q, x_kv, mask=levels[:, None, :] < 3)


@pytest.mark.mask
@pytest.mark.derive
def test_hidden_context_leaves_no_trace(check, rng):
    """Hidden tokens of the context are replaced by huge ones: not one bit of the result may change."""
    attention = check.module(d_model=5, d_k=4, d_v=3, d_context=6)
    mask = rng.keep(2, 1, 7)
    x_q, x_kv = rng.normal(2, 3, 5), rng.normal(2, 7, 6)
    poisoned = torch.where(mask.transpose(1, 2), x_kv, rng.normal(2, 7, 6, scale=1e4))
    output, weights = attention(x_q, x_kv, mask=mask)
    output_after, weights_after = attention.run(x_q, poisoned, mask=mask)
    check.same(output_after, output, "a hidden token of the context changes the output")
    check.same(weights_after, weights, "a hidden token of the context changes the weights")


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
def test_the_visible_score_is_the_lowest(check, rng):
    """The only visible key matches worst of all: there is no room below it."""
    attention = check.module(d_model=1, d_k=1, d_context=2)
    attention.set(W_q__weight=torch.tensor([[1.0]]), W_k__weight=torch.tensor([[1.0, 0.0]]))
    mask = torch.nn.functional.one_hot(rng.integers(0, 6, 2), 6).bool()[:, None]
    x_kv = rng.normal(2, 6, 2)
    x_kv[..., 0] = torch.where(mask[:, 0], -(2.0**40), 0.0)
    attention(torch.ones(2, 3, 1, dtype=torch.float64), x_kv, mask=mask)


@pytest.mark.mask
@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_under_a_mask(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: what is hidden stays hidden."""
    for widths in ((1, 1, 1, 1), (4, 3, 70, 80), (4, 4, 4, 4)):
        attention = check.module(*widths)
        attention(rng.normal(2, 3, widths[0]), rng.normal(2, 5, widths[3]), mask=rng.keep(2, 3, 5))
    attention(rng.normal(2, 1, 4), rng.normal(2, 300, 4), mask=rng.keep(2, 1, 300))
    attention(rng.normal(1, 300, 4), rng.normal(1, 5, 4), mask=rng.keep(300, 5))
    attention(3e4 * rng.normal(2, 3, 4), rng.normal(2, 5, 4) / 3e4, mask=rng.keep(3, 5))
