"""Hidden cases of mha."""

import pytest
import torch

from grader.kit import dropout_gradients
from grader.kit.attention import FAR, KEYS, both_kinds, far_keys, rows_of_all_kinds
from grader.kit.digits import keeps_digits
from grader.kit.inference import drops_in_inference_mode


def sequences(rng, batch, n, m, width):
    """Draw queries, keys and values that have nothing in common."""
    return rng.normal(batch, n, width), rng.normal(batch, m, width), rng.normal(batch, m, width)


def bare(mha, width):
    """Projections that do nothing, so that the inputs are the queries, keys and values themselves."""
    names = ("W_q", "W_k", "W_v", "W_o")
    mha.set(**{f"{name}__weight": torch.eye(width, dtype=torch.float64) for name in names})
    return mha.set(**{f"{name}__bias": torch.zeros(width, dtype=torch.float64) for name in names})


def by_head(output):
    """(B, n, d_model) of two heads to (B, 2, n, d_head)."""
    return output.unflatten(-1, (2, -1)).transpose(1, 2)


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    mha = bare(check.module(d_model=4, n_heads=2), 4)
    x = torch.tensor([[[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0]]])
    mha(x, x, x, mask=torch.tensor([[True, True, False]]))


def test_two_heads_on_one_sequence(check, rng):
    """The smallest call that tells heads apart."""
    mha = check.module(d_model=4, n_heads=2)
    x = rng.normal(1, 3, 4)
    mha(x, x, x)


def test_queries_keys_and_values_differ(check, rng):
    """Three different sequences, more keys than queries and the reverse."""
    mha = check.module(d_model=6, n_heads=3)
    mha(*sequences(rng, 2, 3, 5, 6))
    mha(*sequences(rng, 2, 7, 4, 6))


def test_as_many_heads_as_tokens_and_batch_rows(check, rng):
    """B == H == n == m == d_head: axes that can be mistaken for each other."""
    mha = check.module(d_model=9, n_heads=3)
    mha(*sequences(rng, 3, 3, 3, 9))


def test_sizes_of_one(check, rng):
    """One batch row, one query, one key; heads of width one, and one head."""
    mha = check.module(d_model=4, n_heads=4)
    mha(*sequences(rng, 1, 1, 1, 4))
    mha(*sequences(rng, 2, 1, 6, 4))
    mha(*sequences(rng, 2, 5, 1, 4))
    single = check.module(d_model=5, n_heads=1)
    single(*sequences(rng, 2, 3, 4, 5))


def test_projections_with_large_weights(check, rng):
    """Sharp attention, where a wrong scale is plain to see."""
    mha = check.module(d_model=16, n_heads=2)
    mha.set(W_q__weight=rng.normal(16, 16, scale=0.3), W_k__weight=rng.normal(16, 16, scale=0.3))
    mha(*sequences(rng, 2, 4, 5, 16))


def test_wide_model_with_many_heads(check, rng):
    """Eight heads, a longer sequence."""
    mha = check.module(d_model=32, n_heads=8)
    mha(*sequences(rng, 2, 11, 13, 32))


def test_without_bias(check, rng):
    """The last argument, bias=False, holds for all four projections."""
    mha = check.module(d_model=6, n_heads=2, bias=False)
    mha(*sequences(rng, 2, 3, 4, 6))
    by_position = check.module(6, 2, 0.5, False)
    by_position(*sequences(rng, 2, 3, 4, 6))


def test_biases_that_matter(check, rng):
    """Each bias is as large as what it is added to."""
    mha = check.module(d_model=6, n_heads=2)
    mha.set(**{f"{name}__bias": rng.normal(6) for name in ("W_q", "W_k", "W_v", "W_o")})
    mha(*sequences(rng, 2, 3, 4, 6))


def test_transposed_inputs(check, rng):
    """Sequences that were length first are views, not copies."""
    mha = check.module(d_model=6, n_heads=3)
    q, kv = rng.normal(4, 2, 6).transpose(0, 1), rng.normal(2, 6, 5).transpose(1, 2)
    mha(q, kv, kv)


def test_module_is_used_twice(check, rng):
    """A module keeps nothing from one call to the next, whatever the sizes."""
    mha = check.module(d_model=6, n_heads=2)
    first = sequences(rng, 2, 3, 5, 6)
    before = mha(*first)
    mha(*sequences(rng, 1, 6, 2, 6), mask=rng.keep(6, 2))
    check.same(before, mha(*first), "the same call gave another result the second time")


def test_scores_with_a_common_level(check, rng):
    """What all scores of a row have in common does not count, and float64 can tell them apart at any level."""
    level = 2.0**14 if check.dtype == torch.float64 else 4.0
    mha = bare(check.module(d_model=8, n_heads=2), 8)
    q, k, v = sequences(rng, 2, 3, 5, 8)
    q[:, :, [0, 4]] = 2.0
    k[:, :, [0, 4]] = level
    mha(q, k, v)
    mha(-q, k, v)


@pytest.mark.derive("device", "contract")
def test_scores_of_ten_thousand_and_more(check, rng):
    """Sharp to the point where exp alone would overflow, or vanish."""
    mha = bare(check.module(d_model=8, n_heads=2), 8)
    q, k, v = sequences(rng, 2, 3, 5, 8)
    q[:, :, [0, 4]] = 2.0**10
    k[:, :, [0, 4]] = 2.0**9 * (1 + rng.permutation(10).double().view(5, 2))
    mha(q, k, v)
    mha(-q, k, v)


def test_dropout_does_nothing_in_evaluation(check, rng):
    """In evaluation mode a rate of one half changes nothing."""
    mha = check.module(d_model=6, n_heads=2, dropout=0.5)
    mha(*sequences(rng, 2, 3, 4, 6), mask=rng.keep(2, 3, 4))


def test_training_without_dropout(check, rng):
    """In training a rate of 0, the default, changes nothing."""
    mha = check.module(d_model=6, n_heads=2).train()
    mha(*sequences(rng, 2, 3, 4, 6))


@pytest.mark.derive("grad")
@pytest.mark.parametrize(("batch", "n"), [(3, 60), (180, 1)])
def test_what_dropout_drops(check, rng, batch, n):
    """Equal weights and values of 1: each head's output counts the weights left, rescaled; one query included."""
    keys, heads = 4, 2
    mha = check.module(d_model=8, n_heads=heads, dropout=0.25)
    inputs = torch.zeros(batch, n, 8), rng.normal(batch, keys, 8), torch.ones(batch, keys, 8)
    bare(mha, 8)(*inputs)
    output, _ = mha.train().run(*inputs)
    got = output.got.detach().double()
    check.that(got.shape == (batch, n, 8), f"the output has the shape {tuple(got.shape)}")
    by_head = got.view(batch, n, heads, 4)
    steps = by_head * keys * 0.75
    check.that(bool((got != got.flatten()[0]).any()), "in training nothing was dropped")
    check.that(
        bool((by_head == by_head[..., :1]).all()),
        "features of one head differ: something else than the weights was dropped",
    )
    check.that(bool((steps - steps.round()).abs().max() < 1e-3), "what was kept is not rescaled by 1 / (1 - p)")
    check.that(
        bool(got.max() > 1.1), "no output exceeds 1: a row that kept all its weights must, once they are rescaled"
    )
    check.that(abs(got.mean().item() - 1) < 0.1, f"the outputs' mean is {got.mean().item():.2f} where 1 is expected")
    check.that(bool((by_head[:, :, 0] != by_head[:, :, 1]).any()), "all heads lose the same weights")
    check.that(n == 1 or bool((by_head != by_head[:, :1]).any()), "all queries lose the same weights")
    check.that(bool((by_head != by_head[:1]).any()), "all batch rows lose the same weights")


@pytest.mark.grad
def test_gradients_follow_what_was_dropped(check, rng):
    """Values hear of the weights that were kept, and scores through these alone."""
    mha, (q, k, v) = bare(check.module(d_model=8, n_heads=2, dropout=0.5), 8).train(), sequences(rng, 2, 5, 4, 8)
    dropout_gradients.grows_with(check, mha.run(q, k, v)[0], {"v": v})
    v = torch.eye(4, dtype=torch.float64).repeat(2, 1, 2)  # feature j of a head is its weight of key j
    dropout_gradients.weights_dropped(check, mha.run(q, k, v), {"q": q}, 0.5, by_head)


@pytest.mark.derive
def test_everything_dropped(check, rng):
    """With a rate of 1 the context is 0 in training, not in evaluation; the weights are those before dropout."""
    mha = check.module(d_model=6, n_heads=2, dropout=1.0)
    mha.train()(*sequences(rng, 2, 3, 4, 6))
    mha.eval()(*sequences(rng, 2, 3, 4, 6))


@pytest.mark.derive
def test_dropout_in_inference_mode(check, rng):
    """What nobody differentiates drops as well, as long as the module is in training."""
    mha = check.module(d_model=6, n_heads=2, dropout=0.5)
    check.that(
        drops_in_inference_mode(check, mha, *sequences(rng, 2, 6, 7, 6)),
        "two calls in training are alike in inference mode: nothing was dropped",
    )


@pytest.mark.derive("grad", "dtype")
def test_weights_are_returned_before_dropout(check, rng):
    """In training the second result is still the softmax."""
    mha = check.module(d_model=6, n_heads=2, dropout=0.5)
    inputs, mask = sequences(rng, 2, 6, 7, 6), both_kinds(rng, 2, 6, 7)
    calm, calm_weights = mha(*inputs, mask=mask)
    output, weights = mha.train().run(*inputs, mask=mask)
    check.close(weights, calm_weights, "in training the weights that were returned are not the softmax weights")
    check.that(not torch.equal(output.got, calm.got), "in training nothing was dropped")


@pytest.mark.precise
@pytest.mark.derive("grad", "device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-250 is a weight: its value may be as large. In float64 all digits count."""
    mha = bare(check.module(d_model=6, n_heads=2), 6)
    q, k, v = sequences(rng, 2, 3, 5, 6)
    q[..., ::3], k[..., ::3], k[:, 1, ::3] = 2.0, 0.0, -500.0
    v[:, 1] *= 1e250
    mha(q, k, v)
    result = mha(*sequences(rng, 2, 3, 5, 6))
    check.that(keeps_digits(result), "numbers of float64 came back with the digits of a shorter type")


@pytest.mark.derive("grad")
def test_sizes_that_people_run(check, rng):
    """Six hundred tokens, three hundred keys, wide heads and many of them: nothing changes with size."""
    mha = check.module(d_model=96, n_heads=12)
    mha(*sequences(rng, 1, 600, 5, 96))
    mha(*sequences(rng, 1, 3, 300, 96))
    mha(*sequences(rng, 9, 9, 9, 96), mask=rng.keep(9, 9))
    wide = check.module(d_model=96, n_heads=1)
    wide.set(W_q__weight=rng.normal(96, 96, scale=0.2), W_k__weight=rng.normal(96, 96, scale=0.2))
    wide(*sequences(rng, 2, 3, 5, 96))


@pytest.mark.derive("grad", "device", "contract")
def test_weights_are_loaded_between_calls(check, rng):
    """A step of an optimiser or a checkpoint changes the weights in place: the next call uses the new ones."""
    mha = check.module(d_model=6, n_heads=2)
    inputs = sequences(rng, 2, 3, 4, 6)
    mha(*inputs)
    names = ("W_q", "W_k", "W_v", "W_o")
    mha.set(**{f"{name}__weight": rng.normal(6, 6, scale=0.7) for name in names})
    mha(*inputs)
    x = inputs[0]
    mha(x, x, x)
    for name in names:
        mha.set(**{f"{name}__weight": rng.normal(6, 6, scale=0.7)})
        mha(x, x, x)


@pytest.mark.contract
@pytest.mark.parametrize(("d_model", "n_heads"), [(10, 3), (4, 8), (7, 2)])
def test_width_not_divisible_by_heads(check, d_model, n_heads):
    """Impossible sizes are refused when the module is built."""
    with check.raises(ValueError):
        check.module(d_model=d_model, n_heads=n_heads)


@pytest.mark.cost
def test_one_product_for_all_queries(check, rng):
    """The number of operations does not grow with the number of queries or keys; a loop over heads is fine."""
    mha = check.module(d_model=8, n_heads=2)

    def cost(n, m):
        source = rng.normal(2, m, 8)
        return mha.run(rng.normal(2, n, 8), source, source, mask=rng.keep(2, n, m)).cost

    small = cost(8, 8)
    check.no_loop(small, cost(24, 8), 16, "a Python loop goes over the queries")
    check.no_loop(small, cost(8, 24), 16, "a Python loop goes over the keys")


@pytest.mark.cost
def test_nothing_larger_than_the_scores(check, rng):
    """The products of queries and keys are summed as they are made, not laid out one by one."""
    x = rng.normal(2, 32, 16)
    cost = check.module(d_model=16, n_heads=2).run(x, x, x).cost
    scores = 2 * 2 * 32 * 32
    check.at_most(
        cost.biggest, 2 * scores, "a tensor much larger than the scores is built on the way", cost.biggest_line
    )


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores of 16384 that differ by one or two: float32 tells them apart, and weights keep their digits."""
    mha = bare(check.module(d_model=8, n_heads=8), 8)
    _, _, v = sequences(rng, 2, 3, 5, 8)
    mha(torch.full((2, 3, 8), 2.0), 2.0**14 + rng.integers(0, 3, 2, 5, 8).double(), v)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    check.module(d_model=1, n_heads=1)(*sequences(rng, 2, 3, 5, 1))
    mha = check.module(d_model=4, n_heads=2)
    mha(*sequences(rng, 4, 4, 4, 4))
    q, k, v = sequences(rng, 2, 3, 5, 4)
    mha(3e4 * q, k / 3e4, v)
    mha.train()(q, k, v)
    mha.eval()(q, k, v)
    check.module(d_model=8, n_heads=4)(*sequences(rng, 4, 3, 5, 8), mask=rng.keep(4, 1, 1, 5))


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("keys", KEYS)
def test_many_scores_far_from_zero(check, rng, keys):
    """Rows of 20 to 600 scores far above and far below zero: what is visible shares a weight of 1."""
    mha = bare(check.module(d_model=8, n_heads=2), 8)
    for height in FAR:
        q, k, v = sequences(rng, 3, 4, keys, 8)
        q[:] = 0.0
        q[..., ::4], k[..., ::4] = 2.0, far_keys(height, keys)[:, None]
        mha(q, k, v, torch.stack([rows_of_all_kinds(rng, 4, keys) for _ in range(3)]))
        mha(q, k, v)
