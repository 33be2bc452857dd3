"""Hidden cases of self-attention."""

import pytest
import torch

from grader.kit.attention import FAR, HALVES, TOKENS, collinear_tokens, exact_projections, far_keys, rows_of_all_kinds
from grader.kit.digits import keeps_digits

# Half precision is tried where scores are of moderate size, or exact: rounding of large ones is not the learner's.
without_dtype = pytest.mark.derive("grad", "device", "contract")
# At scores of a billion a gradient of 0 is the difference of two that the projections have made a billion times larger.
without_grad = pytest.mark.derive("dtype", "device", "contract")


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    attention = check.module(d_model=2, d_k=1, d_v=2)
    attention.set(W_q__weight=torch.tensor([[1.0, 0.0]]), W_k__weight=torch.tensor([[0.0, 1.0]]))
    attention.set(W_v__weight=torch.eye(2))
    x = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    attention(x, mask=torch.ones(3, 3, dtype=torch.bool).tril())


@without_dtype
def test_one_token(check, rng):
    """A single token can only look at itself: its weight is 1 and the output is its value."""
    attention = check.module(d_model=3, d_k=2)
    attention(rng.normal(2, 1, 3))


def test_three_tokens(check, rng):
    """The smallest call with something to weigh."""
    check.module(d_model=4, d_k=3)(rng.normal(1, 3, 4))


def test_batch_of_sequences(check, rng):
    """Every sequence of a batch attends to itself alone."""
    check.module(d_model=6, d_k=4)(rng.normal(3, 5, 6))


@without_dtype
def test_values_of_another_width(check, rng):
    """Queries and keys share a width; the values have their own."""
    check.module(d_model=6, d_k=5, d_v=3)(rng.normal(2, 4, 6))


@without_dtype
def test_values_wider_than_tokens_and_keys(check, rng):
    """Widths in the order d_k < d_model < d_v, passed by position."""
    check.module(5, 2, 9)(rng.normal(2, 7, 5))


@without_dtype
def test_keys_of_width_one(check, rng):
    """One number for each query and key, where the scale is 1."""
    check.module(d_model=4, d_k=1, d_v=3)(rng.normal(2, 6, 4))


@without_dtype
def test_value_width_left_out_is_the_key_width(check, rng):
    """d_v = None means d_k, also where d_k is larger than d_model."""
    check.module(d_model=3, d_k=8)(rng.normal(2, 3, 3))


def test_with_biases(check, rng):
    """bias=True gives all three projections a bias."""
    check.module(d_model=5, d_k=4, d_v=6, bias=True)(rng.normal(2, 4, 5))
    check.module(d_model=3, d_k=8, bias=True)(rng.normal(2, 4, 3))


@without_dtype
def test_as_many_sequences_as_tokens(check, rng):
    """Batch, length and width are equal: a wrong axis does not show in the shape."""
    attention = check.module(d_model=4, d_k=4)
    attention(rng.normal(4, 4, 4))


def test_two_calls_of_different_lengths(check, rng):
    """Nothing of one call stays behind in the module."""
    attention = check.module(d_model=4, d_k=3, d_v=2)
    attention(rng.normal(2, 5, 4), mask=rng.keep(2, 5, 5))
    attention(rng.normal(3, 2, 4))
    attention(rng.normal(2, 5, 4))


def test_very_large_scores(check, rng):
    """Scores of more than ten thousand: the weights stay finite."""
    attention = check.module(d_model=4, d_k=4)
    exact_projections(attention, 24.0)
    x, _ = collinear_tokens(rng, 3)
    attention(x)


@without_grad
def test_scores_of_a_billion(check, rng):
    """Scores that only float32 and float64 can hold."""
    attention = check.module(d_model=4, d_k=4)
    exact_projections(attention, 24.0 if check.dtype in HALVES else 32768.0)
    x, _ = collinear_tokens(rng, 3)
    attention(x)


@pytest.mark.derive("dtype")
def test_digits_of_double_precision(check, rng):
    """In float64 all scores lie around a million and differ by about one: the digits must not get lost on the way."""
    attention = check.module(d_model=4, d_k=3, bias=True)
    height = 1e6 if check.dtype == torch.float64 else 1.0
    attention.set(W_k__bias=torch.full((3,), height, dtype=torch.float64))
    attention(rng.normal(2, 5, 4), mask=rng.keep(2, 5, 5))


@pytest.mark.derive("grad", "device")
def test_training_mode_computes_the_same(check, rng):
    """There is nothing random in this module."""
    attention = check.module(d_model=4, d_k=3).train()
    attention(rng.normal(2, 6, 4))


@pytest.mark.mask
def test_mask_per_sequence(check, rng):
    """A three-dimensional mask has its own rows for each sequence."""
    attention = check.module(d_model=6, d_k=4)
    attention(rng.normal(3, 5, 6), mask=rng.keep(3, 5, 5))


@pytest.mark.mask
def test_causal_mask_for_all_sequences(check, rng):
    """A two-dimensional mask (S, S) is the same for the whole batch."""
    attention = check.module(d_model=6, d_k=3, d_v=4)
    attention(rng.normal(2, 5, 6), mask=torch.ones(5, 5).tril().bool())


@pytest.mark.mask
@without_dtype
def test_two_dimensional_mask_when_batch_equals_length(check, rng):
    """B == S: the two axes of the mask are still queries and keys."""
    attention = check.module(d_model=5, d_k=4)
    attention(rng.normal(4, 4, 5), mask=rng.keep(4, 4))


@pytest.mark.mask
def test_padding_mask_per_sequence(check, rng):
    """A mask (B, 1, S) hides keys from all queries of its sequence."""
    attention = check.module(d_model=6, d_k=4, bias=True)
    attention(rng.normal(3, 4, 6), mask=rng.keep(3, 1, 4))


@pytest.mark.mask
@without_dtype
def test_padding_mask_when_batch_equals_length(check, rng):
    """B == S: a mask (B, 1, S) still goes by sequence and key."""
    attention = check.module(d_model=5, d_k=3)
    attention(rng.normal(4, 4, 5), mask=rng.keep(4, 1, 4))


@pytest.mark.mask
@without_dtype
def test_mask_with_a_leading_one(check, rng):
    """A mask (1, S, S) is shared by the batch."""
    attention = check.module(d_model=4, d_k=3)
    attention(rng.normal(2, 5, 4), mask=rng.keep(1, 5, 5))


@pytest.mark.mask
@pytest.mark.derive
def test_calls_of_the_same_sizes(check, rng):
    """Other tokens of the same sizes with a mask, with another one and with none: each call goes by its own."""
    attention = check.module(d_model=4, d_k=3)
    attention(rng.normal(2, 5, 4), mask=rng.keep(2, 5, 5))
    attention(rng.normal(2, 5, 4), mask=rng.keep(2, 5, 5))
    attention(rng.normal(2, 5, 4))


@pytest.mark.mask
@without_dtype
def test_mask_passed_by_position(check, rng):
    """The mask is the second argument."""
    attention = check.module(d_model=4, d_k=3)
    attention(rng.normal(2, 4, 4), rng.keep(2, 4, 4))


@pytest.mark.mask
@without_dtype
def test_mask_that_hides_nothing(check, rng):
    """A mask of nothing but True changes nothing."""
    attention = check.module(d_model=4, d_k=3)
    attention(rng.normal(2, 4, 4), mask=torch.ones(2, 4, 4, dtype=torch.bool))


@pytest.mark.mask
def test_queries_that_see_nothing(check, rng):
    """A query without a visible key gets weights 0 and an output of 0; its neighbours are not disturbed."""
    attention = check.module(d_model=6, d_k=4, d_v=3, bias=True)
    mask = rng.keep(3, 5, 5)
    mask[0, 2] = False
    mask[2, 0] = False
    mask[2, 4] = False
    attention(rng.normal(3, 5, 6), mask=mask)


@pytest.mark.mask
def test_sequence_of_padding_only(check, rng):
    """One sequence of the batch is all padding."""
    attention = check.module(d_model=4, d_k=3)
    mask = rng.keep(3, 1, 4)
    mask[1] = False
    attention(rng.normal(3, 4, 4), mask=mask)


@pytest.mark.mask
def test_nothing_visible_at_all(check, rng):
    """Everything is hidden, from everyone."""
    attention = check.module(d_model=4, d_k=3)
    attention(rng.normal(2, 3, 4), mask=torch.zeros(3, 3, dtype=torch.bool))


@pytest.mark.mask
@without_dtype
def test_single_hidden_token(check, rng):
    """A sequence of one token that is not even visible to itself."""
    attention = check.module(d_model=4, d_k=3, bias=True)
    attention(rng.normal(2, 1, 4), mask=torch.tensor([[[True]], [[False]]]))


@pytest.mark.mask
def test_one_visible_key(check, rng):
    """Where one key is visible, its weight is exactly 1 and every other weight exactly 0."""
    attention = check.module(d_model=5, d_k=4)
    mask = torch.eye(6, dtype=torch.bool)[rng.permutation(6)]
    _, weights = attention(rng.normal(2, 6, 5), mask=mask)
    check.that((weights.got == mask).all(), "a query with one visible key gives it a weight other than 1")


@pytest.mark.mask
def test_visible_scores_far_below_zero(check, rng):
    """All visible scores lie below the hidden ones, most of them below -10000: the hidden keys must not win."""
    attention = check.module(d_model=4, d_k=4)
    exact_projections(attention, -24.0)
    x, levels = collinear_tokens(rng, 3)
    attention(x, mask=levels[:, None, :] > 2)


@pytest.mark.mask
@without_grad
def test_visible_scores_below_minus_a_billion(check, rng):
    """No finite score is low enough to stand for a hidden key."""
    attention = check.module(d_model=4, d_k=4)
    exact_projections(attention, -24.0 if check.dtype in HALVES else -(2.0**55))
    x, levels = collinear_tokens(rng, 3)
    attention(x, mask=levels[:, None, :] > 2)


@pytest.mark.mask
def test_hidden_scores_far_above_the_visible_ones(check, rng):
    """The largest scores of each row are hidden: the visible keys still share a weight of 1."""
    attention = check.module(d_model=4, d_k=4)
    exact_projections(attention, 24.0)
    x, levels = collinear_tokens(rng, 3)
    attention(x, mask=levels[:, None, :] < 3)


@pytest.mark.mask
@pytest.mark.derive
def test_hidden_tokens_leave_no_trace(check, rng):
    """Tokens that nobody sees are replaced by huge ones: not one bit of the other rows may change."""
    attention = check.module(d_model=5, d_k=4, d_v=3)
    mask = torch.ones(2, 7, 7, dtype=torch.bool)
    mask[:, :, 4:6] = False
    x = rng.normal(2, 7, 5)
    poisoned = x.clone()
    poisoned[:, 4:6] = rng.normal(2, 2, 5, scale=1e4)
    output, weights = attention(x, mask=mask)
    output_after, weights_after = attention.run(poisoned, mask=mask)
    rows = [0, 1, 2, 3, 6]
    check.same(output_after.got[:, rows], output.got[:, rows], "a hidden token changes the output of the others")
    check.same(weights_after.got[:, rows], weights.got[:, rows], "a hidden token changes the weights of the others")


@pytest.mark.mask
@without_dtype
def test_weights_of_hidden_keys_are_zero(check, rng):
    """What is hidden has a weight of exactly 0, and the visible keys of a row share a weight of 1."""
    attention = check.module(d_model=6, d_k=4)
    mask = rng.keep(3, 6, 6)
    _, weights = attention(rng.normal(3, 6, 6), mask=mask)
    check.that((weights.got[~mask] == 0).all(), "a hidden key has a weight other than 0")


@pytest.mark.precise
@pytest.mark.derive("grad", "device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-250 is a weight: its value may be as large. In float64 all digits count."""
    unit, nothing = torch.eye(5, dtype=torch.float64), torch.zeros(2, 5, dtype=torch.float64)
    attention = check.module(d_model=5, d_k=3)
    attention.set(W_q__weight=torch.cat([unit[:1], nothing]), W_k__weight=torch.cat([unit[1:2], nothing]))
    attention.set(W_v__weight=unit[2:])
    x = rng.normal(2, 4, 5)
    x[..., 0], x[..., 1], x[:, 1, 1] = 2.0, 0.0, -500.0
    x[:, 1, 2:] *= 1e250
    attention(x)
    result = check.module(d_model=5, d_k=3)(rng.normal(2, 4, 5))
    check.that(keeps_digits(result), "numbers of float64 came back with the digits of a shorter type")


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
def test_the_visible_score_is_the_lowest(check, rng):
    """The only visible key matches worst of all: there is no room below it."""
    attention = check.module(d_model=2, d_k=1)
    attention.set(W_q__weight=torch.tensor([[1.0, 0.0]]), W_k__weight=torch.tensor([[0.0, 1.0]]))
    mask = torch.nn.functional.one_hot(rng.integers(0, 6, 2), 6).bool()[:, None]
    x = torch.stack([torch.ones(2, 6), torch.where(mask[:, 0], -(2.0**40), 0.0)], dim=-1).double()
    attention(x, mask=mask)


@pytest.mark.derive
def test_sizes_that_people_run(check, rng):
    """Six hundred tokens, three hundred keys, wide heads and many of them: nothing changes with size."""
    attention = check.module(d_model=96, d_k=96, d_v=3)
    attention.set(W_q__weight=rng.normal(96, 96, scale=0.2), W_k__weight=rng.normal(96, 96, scale=0.2))
    attention(rng.normal(10, 9, 96), mask=rng.keep(9, 9))
    check.module(d_model=4, d_k=4)(rng.normal(1, 600, 4, scale=2.0))


@pytest.mark.derive("grad", "device", "contract")
def test_weights_are_loaded_between_calls(check, rng):
    """A step of an optimiser or a checkpoint changes the weights in place: the next call uses the new ones."""
    attention = check.module(d_model=5, d_k=3)
    x = rng.normal(2, 4, 5)
    attention(x)
    attention.set(W_q__weight=rng.normal(3, 5), W_k__weight=rng.normal(3, 5), W_v__weight=rng.normal(3, 5))
    attention(x)
    for name in ("W_q", "W_k", "W_v"):
        attention.set(**{f"{name}__weight": rng.normal(3, 5)})
        attention(x)


@pytest.mark.contract
def test_mask_is_used_again(check, rng):
    """The caller's mask and tokens serve for a second call that gives the same result."""
    attention = check.module(d_model=4, d_k=3)
    x, mask = rng.normal(2, 5, 4), rng.keep(2, 5, 5)
    first = attention(x, mask=mask)
    second = attention(x, mask=mask)
    check.same(second[0], first[0], "the same call gives another output the second time")
    check.same(second[1], first[1], "the same call gives other weights the second time")


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores of 16384 that differ by one or two: float32 tells them apart, and weights keep their digits."""
    attention = check.module(d_model=4, d_k=1, d_v=2)
    unit = torch.eye(4, dtype=torch.float64)
    attention.set(W_q__weight=unit[:1], W_k__weight=unit[1:2], W_v__weight=unit[2:])
    x = rng.normal(2, 5, 4)
    x[..., 0] = 2.0
    x[..., 1] = 2.0**14 + rng.integers(0, 3, 2, 5).double()
    attention(x)
    attention(x, mask=rng.keep(2, 5, 5))


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for d_model, d_k, d_v in ((1, 1, 1), (4, 3, 70), (4, 3, 3)):
        check.module(d_model=d_model, d_k=d_k, d_v=d_v)(rng.normal(2, 3, d_model))
    attention = check.module(d_model=4, d_k=3)
    x = rng.normal(2, 5, 4)
    attention(x)
    attention.train()(x)
    attention.eval()(x)


@pytest.mark.mask
@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_under_a_mask(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: what is hidden stays hidden."""
    for d_model, d_k, d_v in ((1, 1, 1), (4, 3, 70)):
        check.module(d_model=d_model, d_k=d_k, d_v=d_v)(rng.normal(2, 3, d_model), mask=rng.keep(2, 3, 3))
    check.module(d_model=4, d_k=4)(rng.normal(1, 300, 4), mask=rng.keep(300, 300))


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("keys", TOKENS)
def test_many_scores_far_from_zero(check, rng, keys):
    """Rows of 20 to 520 scores far above and far below zero: what is visible shares a weight of 1."""
    attention = check.module(d_model=4, d_k=1, d_v=2)
    unit = torch.eye(4, dtype=torch.float64)
    attention.set(W_q__weight=unit[:1], W_k__weight=unit[1:2], W_v__weight=unit[2:])
    for height in FAR if keys < 200 else FAR[1:2]:
        x = rng.normal(2, keys, 4)
        x[..., 0], x[..., 1] = 1.0, far_keys(height, keys)
        attention.train()(x, rows_of_all_kinds(rng, keys, keys))
        attention.eval()(x)
