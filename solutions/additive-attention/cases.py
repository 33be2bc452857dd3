"""Hidden cases of additive-attention."""

import pytest
import torch

from grader.kit import dropout_gradients
from grader.kit.attention import FAR, KEYS, both_kinds, rows_of_all_kinds
from grader.kit.digits import keeps_digits
from grader.kit.inference import drops_in_inference_mode


def sequences(rng, batch, n, m, sizes):
    """Draw queries, keys and values of these widths; values around 2, so that half precision averages nothing away."""
    query_size, key_size, d_v = sizes
    return rng.normal(batch, n, query_size), rng.normal(batch, m, key_size), 2.0 + rng.normal(batch, m, d_v)


def sharp(check, rng, *sizes, **kwargs):
    """Build a module whose scores are as large as those of a trained one."""
    attention = check.module(*sizes, **kwargs)
    return attention.set(w_v__weight=rng.normal(1, sizes[-1]))


def switches(check, levels, from_queries=None):
    """Build a module that scores a key with exactly the sum of ``levels[i] * sign(key[i])``."""
    count = len(levels)
    attention = check.module(query_size=3, key_size=count, num_hiddens=count)
    attention.set(
        W_q__weight=torch.zeros(count, 3, dtype=torch.float64) if from_queries is None else from_queries,
        W_k__weight=64.0 * torch.eye(count, dtype=torch.float64),
        w_v__weight=torch.tensor([levels], dtype=torch.float64),
    )
    return attention


def on_a_level(check, rng, level):
    """Build a module of which one hidden unit adds ``level`` to each score of a key that begins with 1."""
    attention = check.module(query_size=3, key_size=4, num_hiddens=5)
    from_queries, from_keys, scoring = rng.normal(5, 3), rng.normal(5, 4), rng.normal(1, 5)
    from_queries[0], from_keys[0] = 0.0, torch.tensor([64.0, 0.0, 0.0, 0.0])
    scoring[0, 0] = level
    return attention.set(W_q__weight=from_queries, W_k__weight=from_keys, w_v__weight=scoring)


def in_training(check, attention, shape, *inputs):
    """Return the output of a call in training; zeros where there is no tensor of this shape."""
    got = attention.train().run(*inputs).got
    output = got[0] if isinstance(got, tuple) and got else None
    fits = isinstance(output, torch.Tensor) and output.shape == shape
    check.that(fits, f"in training the output is not a tensor of the shape {shape}")
    return output.double() if fits else torch.zeros(shape, dtype=torch.float64)


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    attention = check.module(query_size=1, key_size=2, num_hiddens=1)
    attention.set(W_q__weight=torch.tensor([[0.5]]), W_k__weight=torch.tensor([[1.0, 0.0]]))
    attention.set(w_v__weight=torch.tensor([[4.0]]))
    queries, keys = torch.tensor([[[0.0], [2.0]]]), torch.tensor([[[0.0, 5.0], [1.0, 5.0], [9.0, 5.0]]])
    attention(queries, keys, torch.tensor([[[10.0], [20.0], [90.0]]]), mask=torch.tensor([[[True, True, False]]]))


def test_one_query_two_keys(check, rng):
    """The smallest call with something to weigh; queries and keys differ in width."""
    attention = check.module(query_size=2, key_size=3, num_hiddens=4)
    attention(*sequences(rng, 1, 1, 2, (2, 3, 2)))


def test_all_sizes_differ(check, rng):
    """More keys than queries and the reverse; the values have a width of their own."""
    attention = sharp(check, rng, 3, 4, 6)
    attention(*sequences(rng, 2, 3, 5, (3, 4, 7)))
    attention(*sequences(rng, 2, 7, 4, (3, 4, 2)))


def test_arguments_by_position(check, rng):
    """query_size, key_size, num_hiddens, dropout: queries wider than keys, fewer hidden units than either."""
    attention = check.module(6, 4, 3, 0.5)
    attention(*sequences(rng, 2, 3, 4, (6, 4, 5)))


def test_as_many_queries_as_keys(check, rng):
    """B == n == m, and all widths alike: axes that can be mistaken for each other."""
    attention = sharp(check, rng, 4, 4, 4)
    attention(*sequences(rng, 4, 4, 4, (4, 4, 4)))
    attention(*sequences(rng, 2, 4, 4, (4, 4, 4)))


def test_sizes_of_one(check, rng):
    """One sequence, one query, one key, one feature, one hidden unit: the axes stay."""
    attention = check.module(query_size=3, key_size=2, num_hiddens=4)
    attention(*sequences(rng, 1, 1, 1, (3, 2, 1)))
    attention(*sequences(rng, 1, 3, 4, (3, 2, 2)))
    attention(*sequences(rng, 2, 1, 4, (3, 2, 2)))
    attention(*sequences(rng, 2, 3, 1, (3, 2, 2)))
    single = check.module(query_size=1, key_size=1, num_hiddens=1)
    single(*sequences(rng, 2, 3, 4, (1, 1, 2)))


def test_large_projections(check, rng):
    """Where the hidden units saturate, tanh of a sum is plainly another thing than a sum."""
    attention = check.module(query_size=3, key_size=3, num_hiddens=8)
    attention.set(W_q__weight=rng.normal(8, 3, scale=2.0), W_k__weight=rng.normal(8, 3, scale=2.0))
    attention(*sequences(rng, 2, 4, 5, (3, 3, 3)))


def test_self_attention(check, rng):
    """The same tensor may be queries, keys and values."""
    attention = sharp(check, rng, 4, 4, 6)
    x = rng.normal(2, 5, 4)
    attention(x, x, x)


def test_transposed_inputs(check, rng):
    """Sequences that were length first are views, not copies."""
    attention = sharp(check, rng, 3, 4, 5)
    queries, keys = rng.normal(4, 2, 3).transpose(0, 1), rng.normal(2, 4, 5).transpose(1, 2)
    attention(queries, keys, 2.0 + rng.normal(5, 2, 6).transpose(0, 1))


def test_module_is_used_twice(check, rng):
    """A module keeps nothing from one call to the next, whatever the sizes."""
    attention = check.module(query_size=3, key_size=4, num_hiddens=5)
    first = sequences(rng, 2, 3, 5, (3, 4, 2))
    before = attention(*first)
    attention(*sequences(rng, 1, 6, 2, (3, 4, 7)), mask=rng.keep(6, 2))
    check.same(before, attention(*first), "the same call gave another result the second time")


@pytest.mark.derive
def test_calls_of_the_same_sizes(check, rng):
    """Other sequences of the same sizes, masked and then unmasked: each call goes by what it is given."""
    attention = sharp(check, rng, 3, 4, 5)
    attention(*sequences(rng, 2, 3, 5, (3, 4, 2)), mask=rng.keep(2, 3, 5))
    attention(*sequences(rng, 2, 3, 5, (3, 4, 2)))


def test_scores_with_a_common_level(check, rng):
    """What all scores of a row have in common does not count, and float64 can tell them apart at any level."""
    attention = on_a_level(check, rng, 2.0**14 if check.dtype == torch.float64 else 1.0)
    for sign in (1.0, -1.0):
        queries, keys, values = sequences(rng, 2, 3, 5, (3, 4, 2))
        keys[..., 0] = sign
        attention(queries, keys, values)


def test_scores_of_ten_thousand_and_more(check, rng):
    """Sharp to the point where exp alone would overflow, or vanish."""
    from_queries = rng.uniform(5, 3, low=-1.0)
    attention = switches(check, [16384.0, 8192.0, 4096.0, 2048.0, 1024.0], from_queries)
    _, _, values = sequences(rng, 2, 3, 6, (3, 5, 4))
    codes = torch.stack([rng.permutation(16)[:6] for _ in range(2)])
    signs = torch.stack([codes * 0 + 1, *(2 * (codes >> bit & 1) - 1 for bit in range(4))], dim=-1).double()
    attention(rng.uniform(2, 3, 3, low=-1.0), signs, values)
    attention(rng.uniform(2, 3, 3, low=-1.0), -signs, values)


def test_dropout_does_nothing_in_evaluation(check, rng):
    """In evaluation mode a rate of one half changes nothing."""
    attention = sharp(check, rng, 3, 4, 5, dropout=0.5)
    attention(*sequences(rng, 2, 3, 4, (3, 4, 2)), mask=rng.keep(2, 3, 4))


def test_training_without_dropout(check, rng):
    """In training a rate of 0, the default, changes nothing."""
    attention = sharp(check, rng, 3, 4, 5).train()
    attention(*sequences(rng, 2, 3, 4, (3, 4, 2)))


@pytest.mark.derive("grad")
@pytest.mark.parametrize(("batch", "n"), [(3, 120), (360, 1), (30, 9)])
def test_what_dropout_drops(check, rng, batch, n):
    """Equal weights and values of 1: the output counts the weights that were left, rescaled; one query, many keys."""
    keys, rate = (64, 0.5) if n == 9 else (4, 0.25)
    attention = check.module(query_size=2, key_size=2, num_hiddens=3, dropout=rate)
    attention.set(w_v__weight=torch.zeros(1, 3, dtype=torch.float64))
    inputs = rng.normal(batch, n, 2), rng.normal(batch, keys, 2), torch.ones(batch, keys, 5)
    attention(*inputs)
    got = in_training(check, attention, (batch, n, 5), *inputs)
    steps = got * keys * (1 - rate)
    check.that(bool((got != got.flatten()[0]).any()), "in training nothing was dropped")
    check.that(
        bool((got == got[..., :1]).all()),
        "features of one output differ: something else than the weights was dropped",
    )
    check.that(bool((steps - steps.round()).abs().max() < 1e-3), "what was kept is not rescaled by 1 / (1 - p)")
    check.that(
        bool(got.max() > 1.1), "no output exceeds 1: a row that kept all its weights must, once they are rescaled"
    )
    check.that(abs(got.mean().item() - 1) < 0.12, f"the outputs' mean is {got.mean().item():.2f} where 1 is expected")
    check.that(n == 1 or bool((got != got[:, :1]).any()), "all queries lose the same weights")
    check.that(bool((got != got[:1]).any()), "all batch rows lose the same weights")


@pytest.mark.grad
def test_gradients_follow_what_was_dropped(check, rng):
    """Values hear of the weights that were kept, and scores through these alone."""
    scoring, (queries, keys, values) = rng.normal(1, 5), sequences(rng, 2, 6, 4, (3, 4, 2))
    attention = check.module(3, 4, 5, dropout=0.5).set(w_v__weight=scoring).train()
    dropout_gradients.grows_with(check, attention.run(queries, keys, values)[0], {"values": values})
    results = attention.run(queries, keys, torch.eye(4, dtype=torch.float64).repeat(2, 1, 1))
    dropout_gradients.weights_dropped(check, results, {"w_v.weight": scoring}, 0.5, torch.Tensor.double)


@pytest.mark.derive
def test_each_call_drops_anew(check, rng):
    """Two calls in training drop different weights."""
    attention = sharp(check, rng, 3, 4, 5, dropout=0.5)
    inputs = sequences(rng, 2, 6, 7, (3, 4, 2))
    first = in_training(check, attention, (2, 6, 2), *inputs)
    check.roll()
    second = in_training(check, attention, (2, 6, 2), *inputs)
    check.that(not torch.equal(first, second), "two calls in training drop the same weights")


@pytest.mark.derive("grad", "dtype")
def test_weights_are_returned_before_dropout(check, rng):
    """In training the second result is still the softmax."""
    attention = sharp(check, rng, 3, 4, 5, dropout=0.5)
    inputs, mask = sequences(rng, 2, 6, 7, (3, 4, 2)), both_kinds(rng, 2, 6, 7)
    calm, calm_weights = attention(*inputs, mask=mask)
    output, weights = attention.train().run(*inputs, mask=mask)
    check.close(weights, calm_weights, "in training the weights that were returned are not the softmax weights")
    check.that(not torch.equal(output.got, calm.got), "in training nothing was dropped")


@pytest.mark.precise
@pytest.mark.derive("grad", "device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-250 is a weight: its value may be as large. In float64 all digits count."""
    attention = switches(check, [280.0])
    q, k, v = sequences(rng, 2, 3, 5, (3, 1, 4))
    k = torch.full_like(k, 3.0)
    k[:, 1] = -3.0
    v[:, 1] *= 1e243
    attention(q, k, v)
    result = check.module(query_size=3, key_size=4, num_hiddens=5)(*sequences(rng, 2, 3, 5, (3, 4, 4)))
    check.that(keeps_digits(result), "numbers of float64 came back with the digits of a shorter type")


@pytest.mark.derive("grad")
def test_sizes_that_people_run(check, rng):
    """Six hundred tokens, as many keys, the last of which score best, wide heads: nothing changes with size."""
    attention = sharp(check, rng, 96, 80, 16)
    attention(*sequences(rng, 10, 9, 9, (96, 80, 5)), mask=rng.keep(9, 9))
    narrow = sharp(check, rng, 4, 3, 5)
    narrow(*sequences(rng, 1, 600, 4, (4, 3, 2)))
    narrow(*sequences(rng, 1, 3, 300, (4, 3, 2)))
    rising = check.module(query_size=4, key_size=1, num_hiddens=1)
    rising.set(W_k__weight=torch.ones(1, 1), w_v__weight=torch.full((1, 1), 6.0))
    queries, keys, values = sequences(rng, 1, 3, 600, (4, 1, 2))
    rising(queries, keys.sort(dim=1).values, values)


@pytest.mark.derive("grad", "device", "contract")
def test_weights_are_loaded_between_calls(check, rng):
    """A step of an optimiser or a checkpoint changes the weights in place: the next call uses the new ones."""
    attention = sharp(check, rng, 3, 4, 5)
    inputs = sequences(rng, 2, 3, 4, (3, 4, 2))
    attention(*inputs)
    attention.set(W_q__weight=rng.normal(5, 3), W_k__weight=rng.normal(5, 4), w_v__weight=rng.normal(1, 5))
    attention(*inputs)


@pytest.mark.derive
def test_everything_dropped(check, rng):
    """With a rate of 1 the output is 0 in training, not in evaluation; the weights are those before dropout."""
    attention = sharp(check, rng, 3, 4, 5, dropout=1.0)
    attention.train()(*sequences(rng, 2, 3, 4, (3, 4, 2)))
    attention.eval()(*sequences(rng, 2, 3, 4, (3, 4, 2)))


@pytest.mark.derive
def test_dropout_in_inference_mode(check, rng):
    """What nobody differentiates drops as well, as long as the module is in training."""
    attention = check.module(3, 4, 5, dropout=0.5)
    check.that(
        drops_in_inference_mode(check, attention, *sequences(rng, 2, 6, 7, (3, 4, 5))),
        "two calls in training are alike in inference mode: nothing was dropped",
    )


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores of 16384 that differ by one or two: float32 tells them apart, and weights keep their digits."""
    attention = switches(check, [2.0**14, 1.0, 0.5])
    queries, _, values = sequences(rng, 2, 3, 6, (3, 3, 4))
    signs = 1.0 - 2.0 * rng.integers(0, 2, 2, 6, 3)
    signs[..., 0] = 1.0
    attention(queries, signs, values)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    attention = sharp(check, rng, 3, 4, 70)
    queries, keys, values = sequences(rng, 2, 3, 5, (3, 4, 70))
    attention(queries, keys, values)
    attention(3e4 * queries, keys, values)


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = 2.0 + rng.normal(2, 4, 3, scale=scale)
    attention = check.module(query_size=3, key_size=3, num_hiddens=5)
    attention(x, x, x)
    attention(x, x, x, mask=rng.keep(4, 4))


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("keys", KEYS)
def test_many_scores_far_from_zero(check, rng, keys):
    """Rows of 20 to 600 scores far above and far below zero: what is visible shares a weight of 1."""
    for height in FAR:
        attention = switches(check, [height])
        queries, _, values = sequences(rng, 3, 4, keys, (3, 1, 4))
        ones = torch.ones(3, keys, 1, dtype=torch.float64)
        attention(queries, ones, values, rows_of_all_kinds(rng, 4, keys))
        attention(queries, ones, values)
