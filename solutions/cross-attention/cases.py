"""Hidden cases of cross-attention."""

import pytest
import torch

from grader.kit.digits import keeps_digits

# Half precision is tried where scores are of moderate size, or exact: rounding of large ones is not the learner's.
without_dtype = pytest.mark.derive("grad", "device", "contract")
# At scores of a billion a gradient of 0 is the difference of two that the projections have made a billion times larger.
without_grad = pytest.mark.derive("dtype", "device", "contract")
HALVES = (torch.bfloat16, torch.float16)


def collinear_tokens(rng, batch):
    """Four tokens, the multiples 1 to 4 of one vector in random order, and these multiples: (B, 4, 4) and (B, 4)."""
    levels = torch.stack([rng.permutation(4) + 1 for _ in range(batch)]).double()
    return levels[:, :, None] * torch.tensor([1.0, -1.0, 1.0, 1.0], dtype=torch.float64), levels


def exact_projections(attention, factor):
    """Project collinear tokens so that token i scores key j with exactly sign * 2 * factor^2 * i * j."""
    identity = torch.eye(4, dtype=torch.float64)
    attention.set(W_q__weight=factor * identity, W_k__weight=abs(factor) * identity)


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    attention = check.module(d_model=1, d_k=1, d_context=2)
    attention.set(W_q__weight=torch.tensor([[1.0]]), W_k__weight=torch.tensor([[1.0, 0.0]]))
    attention.set(W_v__weight=torch.tensor([[0.0, 1.0]]))
    x_q, x_kv = torch.tensor([[[2.0], [0.0]]]), torch.tensor([[[1.0, 10.0], [0.0, 20.0], [1.0, 90.0]]])
    attention(x_q, x_kv, mask=torch.tensor([[[True, True, False]]]))


@without_dtype
def test_one_query_and_one_key(check, rng):
    """With a single key every weight is 1 and the output is its value."""
    attention = check.module(d_model=3, d_k=2)
    attention(rng.normal(2, 1, 3), rng.normal(2, 1, 3))


def test_fewer_queries_than_keys(check, rng):
    """The result is as long as the sequence that asks."""
    attention = check.module(d_model=4, d_k=3)
    attention(rng.normal(2, 2, 4), rng.normal(2, 5, 4))


def test_more_queries_than_keys(check, rng):
    """The sequence that asks is longer than the one that is asked."""
    attention = check.module(d_model=4, d_k=3)
    attention(rng.normal(2, 6, 4), rng.normal(2, 3, 4))


@without_dtype
def test_as_many_queries_as_keys(check, rng):
    """Equal lengths, where a mix-up of the two sequences does not show in the shape."""
    attention = check.module(d_model=5, d_k=4)
    attention(rng.normal(3, 4, 5), rng.normal(3, 4, 5))


def test_context_of_another_width(check, rng):
    """The tokens that are asked are wider than those that ask."""
    attention = check.module(d_model=4, d_k=3, d_context=7)
    attention(rng.normal(2, 3, 4), rng.normal(2, 5, 7))


@without_dtype
def test_all_widths_different(check, rng):
    """Sizes d_model, d_k, d_v and d_context all differ, passed by position in this order."""
    attention = check.module(6, 4, 3, 5)
    attention(rng.normal(3, 2, 6), rng.normal(3, 7, 5))


@without_dtype
def test_narrow_context_and_wide_values(check, rng):
    """Widths in the order d_context < d_k < d_model < d_v, with biases."""
    attention = check.module(d_model=5, d_k=4, d_v=9, d_context=2, bias=True)
    attention(rng.normal(2, 3, 5), rng.normal(2, 6, 2))


@without_dtype
def test_widths_left_out(check, rng):
    """d_v = None means d_k and d_context = None means d_model, also where d_k is larger than d_model."""
    attention = check.module(d_model=3, d_k=8)
    attention(rng.normal(2, 4, 3), rng.normal(2, 2, 3))


@without_dtype
def test_keys_of_width_one(check, rng):
    """One number for each query and key, where the scale is 1."""
    attention = check.module(d_model=4, d_k=1, d_v=3)
    attention(rng.normal(2, 3, 4), rng.normal(2, 5, 4))


def test_with_biases(check, rng):
    """bias=True gives all three projections a bias."""
    attention = check.module(d_model=5, d_k=4, d_v=6, bias=True)
    attention(rng.normal(2, 4, 5), rng.normal(2, 3, 5))


@without_dtype
def test_all_sizes_equal(check, rng):
    """Batch, both lengths and all widths are equal: a wrong axis does not show in the shape."""
    attention = check.module(d_model=4, d_k=4)
    attention(rng.normal(4, 4, 4), rng.normal(4, 4, 4))


@without_dtype
def test_one_key_for_many_queries(check, rng):
    """Every query gets the only value."""
    attention = check.module(d_model=4, d_k=3)
    attention(rng.normal(3, 5, 4), rng.normal(3, 1, 4))


@pytest.mark.derive("dtype", "device", "contract")
def test_a_sequence_with_itself(check, rng):
    """The same tokens on both sides: self-attention."""
    attention = check.module(d_model=4, d_k=3)
    x = rng.normal(2, 5, 4)
    attention(x, x)


def test_calls_of_different_lengths(check, rng):
    """Nothing of one call stays behind in the module."""
    attention = check.module(d_model=4, d_k=3, d_v=2)
    attention(rng.normal(2, 3, 4), rng.normal(2, 5, 4), mask=rng.keep(2, 3, 5))
    attention(rng.normal(3, 2, 4), rng.normal(3, 4, 4))
    attention(rng.normal(2, 3, 4), rng.normal(2, 5, 4))


@pytest.mark.derive
def test_calls_of_the_same_sizes(check, rng):
    """Other sequences of the same sizes, masked and then unmasked: each call goes by what it is given."""
    attention = check.module(d_model=4, d_k=3)
    attention(rng.normal(2, 3, 4), rng.normal(2, 5, 4), mask=rng.keep(2, 3, 5))
    attention(rng.normal(2, 3, 4), rng.normal(2, 5, 4))


def test_very_large_scores(check, rng):
    """Scores of more than ten thousand: the weights stay finite."""
    attention = check.module(d_model=4, d_k=4)
    exact_projections(attention, 24.0)
    (x_q, _), (x_kv, _) = collinear_tokens(rng, 3), collinear_tokens(rng, 3)
    attention(x_q[:, :3], x_kv)


@without_grad
def test_scores_of_a_billion(check, rng):
    """Scores that only float32 and float64 can hold."""
    attention = check.module(d_model=4, d_k=4)
    exact_projections(attention, 24.0 if check.dtype in HALVES else 32768.0)
    (x_q, _), (x_kv, _) = collinear_tokens(rng, 3), collinear_tokens(rng, 3)
    attention(x_q[:, :3], x_kv)


@pytest.mark.derive("dtype")
def test_digits_of_double_precision(check, rng):
    """In float64 all scores lie around a million and differ by about one: the digits must not get lost on the way."""
    attention = check.module(d_model=4, d_k=3, bias=True)
    height = 1e6 if check.dtype == torch.float64 else 1.0
    attention.set(W_k__bias=torch.full((3,), height, dtype=torch.float64))
    attention(rng.normal(2, 3, 4), rng.normal(2, 5, 4), mask=rng.keep(2, 3, 5))


@pytest.mark.derive("grad", "device")
def test_training_mode_computes_the_same(check, rng):
    """There is nothing random in this module."""
    attention = check.module(d_model=4, d_k=3).train()
    attention(rng.normal(2, 3, 4), rng.normal(2, 6, 4))


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


@pytest.mark.precise
@pytest.mark.derive("grad", "device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-250 is a weight: its value may be as large. In float64 all digits count."""
    unit, nothing = torch.eye(5, dtype=torch.float64), torch.zeros(2, 5, dtype=torch.float64)
    attention = check.module(d_model=5, d_k=3)
    attention.set(W_q__weight=torch.cat([unit[:1], nothing]), W_k__weight=torch.cat([unit[1:2], nothing]))
    attention.set(W_v__weight=unit[2:])
    x_q, x_kv = rng.normal(2, 3, 5), rng.normal(2, 4, 5)
    x_q[..., 0], x_kv[..., 1], x_kv[:, 1, 1] = 2.0, 0.0, -500.0
    x_kv[:, 1, 2:] *= 1e250
    attention(x_q, x_kv)
    result = check.module(d_model=5, d_k=3)(rng.normal(2, 3, 5), rng.normal(2, 4, 5))
    check.that(keeps_digits(result), "numbers of float64 came back with the digits of a shorter type")


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


@pytest.mark.derive("grad")
def test_sizes_that_people_run(check, rng):
    """Six hundred tokens, three hundred keys, wide heads and many of them: nothing changes with size."""
    attention = check.module(d_model=96, d_k=96, d_v=3)
    attention.set(W_q__weight=rng.normal(96, 96, scale=0.2), W_k__weight=rng.normal(96, 96, scale=0.2))
    attention(rng.normal(10, 9, 96), rng.normal(10, 9, 96), mask=rng.keep(9, 9))
    narrow = check.module(d_model=4, d_k=4)
    narrow(rng.normal(1, 600, 4), rng.normal(1, 5, 4))
    narrow(rng.normal(1, 5, 4), rng.normal(1, 300, 4, scale=2.0))


@pytest.mark.derive("grad", "device", "contract")
def test_weights_are_loaded_between_calls(check, rng):
    """A step of an optimiser or a checkpoint changes the weights in place: the next call uses the new ones."""
    attention = check.module(d_model=5, d_k=3)
    x_q, x_kv = rng.normal(2, 3, 5), rng.normal(2, 4, 5)
    attention(x_q, x_kv)
    attention.set(W_q__weight=rng.normal(3, 5), W_k__weight=rng.normal(3, 5), W_v__weight=rng.normal(3, 5))
    attention(x_q, x_kv)


@pytest.mark.contract
def test_arguments_are_used_again(check, rng):
    """The caller's tokens and mask serve for a second call that gives the same result."""
    attention = check.module(d_model=4, d_k=3)
    x_q, x_kv, mask = rng.normal(2, 3, 4), rng.normal(2, 5, 4), rng.keep(2, 3, 5)
    first = attention(x_q, x_kv, mask=mask)
    second = attention(x_q, x_kv, mask=mask)
    check.same(second[0], first[0], "the same call gives another output the second time")
    check.same(second[1], first[1], "the same call gives other weights the second time")


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores of 16384 that differ by one or two: float32 tells them apart, and weights keep their digits."""
    attention = check.module(d_model=4, d_k=1, d_v=3)
    unit = torch.eye(4, dtype=torch.float64)
    attention.set(W_q__weight=unit[:1], W_k__weight=unit[:1], W_v__weight=unit[1:])
    x_q, x_kv = rng.normal(2, 3, 4), rng.normal(2, 5, 4)
    x_q[..., 0] = 2.0
    x_kv[..., 0] = 2.0**14 + rng.integers(0, 3, 2, 5).double()
    attention(x_q, x_kv)
    attention(x_q, x_kv, mask=rng.keep(2, 3, 5))


@pytest.mark.precise
@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for widths in ((1, 1, 1, 1), (4, 3, 70, 80), (4, 4, 4, 4)):
        attention = check.module(*widths)
        attention(rng.normal(2, 3, widths[0]), rng.normal(2, 5, widths[3]))
    attention = check.module(d_model=4, d_k=3)
    loud, x = 3e4 * rng.normal(2, 3, 4), rng.normal(2, 5, 4)
    attention(loud, x / 3e4)
    attention.train()(loud, x)
    attention.eval()(loud, x)
    square = check.module(d_model=5, d_k=3)
    square(rng.normal(1, 4, 5), rng.normal(1, 4, 5))


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = rng.normal(2, 4, 4, scale=scale)
    check.module(d_model=4, d_k=3)(x, x)
