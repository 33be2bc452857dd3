"""Hidden cases of cross-attention."""

import pytest
import torch

from grader.kit.attention import FAR, HALVES, KEYS, collinear_tokens, exact_projections, far_keys, rows_of_all_kinds
from grader.kit.digits import keeps_digits

# Half precision is tried where scores are of moderate size, or exact: rounding of large ones is not the learner's.
without_dtype = pytest.mark.derive("grad", "device", "contract")


# At scores of a billion a gradient of 0 is the difference of two that the projections have made a billion times larger.
without_grad = pytest.mark.derive("dtype", "device", "contract")


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
    check.module(d_model=3, d_k=8, bias=True)(rng.normal(2, 4, 3), rng.normal(2, 3, 3))


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
    for name in ("W_q", "W_k", "W_v"):
        attention.set(**{f"{name}__weight": rng.normal(3, 5)})
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
@pytest.mark.derive("grad")
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
    attention = check.module(d_model=4, d_k=3)
    attention(x, x)
    attention(x, x, mask=rng.keep(4, 4))


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("keys", KEYS)
def test_many_scores_far_from_zero(check, rng, keys):
    """Rows of 20 to 600 scores far above and far below zero: what is visible shares a weight of 1."""
    attention = check.module(d_model=4, d_k=1, d_v=3)
    unit = torch.eye(4, dtype=torch.float64)
    attention.set(W_q__weight=unit[:1], W_k__weight=unit[:1], W_v__weight=unit[1:])
    for height in FAR:
        x_q, x_kv = rng.normal(2, 4, 4), rng.normal(2, keys, 4)
        x_q[..., 0], x_kv[..., 0] = 1.0, far_keys(height, keys)
        attention.train()(x_q, x_kv, rows_of_all_kinds(rng, 4, keys))
        attention.eval()(x_q, x_kv)
