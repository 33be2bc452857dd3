"""Hidden cases of gqa."""

import pytest
import torch

from grader.kit.attention import FAR, TOKENS, far_keys, rows_of_all_kinds
from grader.kit.digits import keeps_digits


def dials(gqa):
    """Weights by which four query heads on two key/value heads read a score off two features of the tokens.

    Token i scores key j with x_i[0] x_j[1] / 2 + x_i[2] x_j[3] / 2 in all heads; the values are features 8 to 15.
    """
    unit = torch.eye(16, dtype=torch.float64)
    nothing = torch.zeros(16, dtype=torch.float64)
    queries = torch.stack([unit[0], unit[2], nothing, nothing]).repeat(4, 1)
    keys = torch.stack([unit[1], unit[3], nothing, nothing]).repeat(2, 1)
    return gqa.set(W_q__weight=queries, W_k__weight=keys, W_v__weight=unit[8:], W_o__weight=unit)


def tokens(rng, batch, length):
    """Draw tokens for `dials`: each query turns its dial to 2, keys differ by the second pair of features only."""
    x = rng.normal(batch, length, 16)
    x[..., 0], x[..., 1] = 2.0, 0.0
    return x


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    gqa = check.module(d_model=4, n_heads=4, n_kv_heads=2)
    unit = torch.eye(4)
    gqa.set(W_q__weight=unit, W_k__weight=unit[[0, 2]], W_v__weight=unit[[1, 3]], W_o__weight=unit)
    gqa(torch.tensor([[[1.0, 1.0, 0.0, 2.0], [0.0, 2.0, 1.0, 4.0]]]))


def test_two_heads_on_one(check, rng):
    """The smallest call in which heads share: two queries, one key."""
    gqa = check.module(d_model=4, n_heads=2, n_kv_heads=1)
    gqa(rng.normal(1, 3, 4))


@pytest.mark.parametrize(("n_heads", "n_kv_heads"), [(4, 2), (6, 2), (6, 3), (5, 1), (3, 3), (12, 4)])
def test_groups(check, rng, n_heads, n_kv_heads):
    """Groups of different sizes and numbers, one group for all heads, and one for each."""
    gqa = check.module(d_model=2 * n_heads, n_heads=n_heads, n_kv_heads=n_kv_heads)
    gqa(rng.normal(2, 5, 2 * n_heads))


def test_as_many_heads_as_tokens_and_batch_rows(check, rng):
    """B == H == S == d_head: axes that can be mistaken for each other."""
    gqa = check.module(d_model=16, n_heads=4, n_kv_heads=2)
    gqa(rng.normal(4, 4, 16))


def test_sizes_of_one(check, rng):
    """One batch row, one token; heads of width one, and one head."""
    gqa = check.module(d_model=6, n_heads=6, n_kv_heads=2)
    gqa(rng.normal(1, 1, 6))
    gqa(rng.normal(3, 4, 6))
    single = check.module(d_model=5, n_heads=1, n_kv_heads=1)
    single(rng.normal(2, 3, 5))


def test_projections_with_large_weights(check, rng):
    """Sharp attention, where a wrong scale is plain to see."""
    gqa = check.module(d_model=24, n_heads=4, n_kv_heads=2)
    gqa.set(W_q__weight=rng.normal(24, 24, scale=0.3), W_k__weight=rng.normal(12, 24, scale=0.3))
    gqa(rng.normal(2, 5, 24))


def test_with_biases(check, rng):
    """The last argument, bias=True, gives all four projections a bias."""
    gqa = check.module(8, 4, 2, True)
    sizes = {"W_q": 8, "W_k": 4, "W_v": 4, "W_o": 8}
    gqa.set(**{f"{name}__bias": rng.normal(size) for name, size in sizes.items()})
    gqa(rng.normal(2, 5, 8))


def test_transposed_input(check, rng):
    """Tokens that were length first are a view, not a copy."""
    gqa = check.module(d_model=12, n_heads=6, n_kv_heads=3)
    gqa(rng.normal(5, 2, 12).transpose(0, 1))


def test_module_is_used_twice(check, rng):
    """A module keeps nothing from one call to the next, whatever the sizes."""
    gqa = check.module(d_model=8, n_heads=4, n_kv_heads=2)
    x = rng.normal(2, 5, 8)
    before = gqa(x)
    gqa(rng.normal(3, 2, 8))
    check.same(before, gqa(x), "the same call gave another result the second time")


@pytest.mark.derive("grad", "device")
def test_training_mode_computes_the_same(check, rng):
    """There is nothing random in this module."""
    gqa = check.module(d_model=8, n_heads=4, n_kv_heads=2).train()
    gqa(rng.normal(2, 5, 8))


def test_scores_with_a_common_level(check, rng):
    """What all scores of a row have in common does not count, and float64 can tell them apart at any level."""
    gqa = dials(check.module(d_model=16, n_heads=4, n_kv_heads=2))
    x = tokens(rng, 2, 5)
    x[..., 1] = 2.0**14 if check.dtype == torch.float64 else 4.0
    gqa(x)


@pytest.mark.derive("device", "contract")
def test_scores_of_ten_thousand_and_more(check, rng):
    """Sharp to the point where exp alone would overflow, or vanish."""
    gqa = dials(check.module(d_model=16, n_heads=4, n_kv_heads=2))
    x = tokens(rng, 2, 5)
    x[..., 0] = 2.0**10 * (1 - 2 * rng.integers(0, 2, 2, 5))
    x[..., 1] = 2.0**9 * (1 + rng.permutation(10).double().view(2, 5))
    gqa(x)


@pytest.mark.precise
@pytest.mark.derive("grad", "device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-250 is a weight: its value may be as large. In float64 all digits count."""
    gqa = check.module(d_model=6, n_heads=2, n_kv_heads=1)
    unit, nothing = torch.eye(6, dtype=torch.float64), torch.zeros(2, 6, dtype=torch.float64)
    gqa.set(W_q__weight=torch.cat([unit[:1], nothing, unit[:1], nothing]), W_k__weight=torch.cat([unit[1:2], nothing]))
    gqa.set(W_v__weight=unit[3:], W_o__weight=unit)
    x = rng.normal(2, 5, 6)
    x[..., 0], x[..., 1], x[:, 1, 1] = 2.0, 0.0, -500.0
    x[:, 1, 3:] *= 1e250
    gqa(x)
    result = check.module(d_model=6, n_heads=2, n_kv_heads=1)(rng.normal(2, 5, 6))
    check.that(keeps_digits(result), "numbers of float64 came back with the digits of a shorter type")


@pytest.mark.derive("grad")
def test_sizes_that_people_run(check, rng):
    """Six hundred tokens, three hundred keys, wide heads and many of them: nothing changes with size."""
    gqa = check.module(d_model=96, n_heads=12, n_kv_heads=4)
    gqa(rng.normal(9, 9, 96), mask=rng.keep(9, 9))
    wide = check.module(d_model=96, n_heads=1, n_kv_heads=1)
    wide.set(W_q__weight=rng.normal(96, 96, scale=0.2), W_k__weight=rng.normal(96, 96, scale=0.2))
    wide(rng.normal(2, 5, 96))
    check.module(d_model=4, n_heads=1, n_kv_heads=1)(rng.normal(1, 600, 4, scale=2.0))


@pytest.mark.derive("grad", "device", "contract")
def test_weights_are_loaded_between_calls(check, rng):
    """A step of an optimiser or a checkpoint changes the weights in place: the next call uses the new ones."""
    gqa = check.module(d_model=8, n_heads=4, n_kv_heads=2)
    x = rng.normal(2, 5, 8)
    gqa(x)
    gqa.set(W_q__weight=rng.normal(8, 8), W_k__weight=rng.normal(4, 8), W_v__weight=rng.normal(4, 8))
    gqa(x)
    for name, size in (("W_q", 8), ("W_k", 4), ("W_v", 4), ("W_o", 8)):
        gqa.set(**{f"{name}__weight": rng.normal(size, 8)})
        gqa(x)


@pytest.mark.contract
@pytest.mark.parametrize(("d_model", "n_heads", "n_kv_heads"), [(10, 4, 2), (9, 2, 1), (4, 8, 8)])
def test_width_not_divisible_by_heads(check, d_model, n_heads, n_kv_heads):
    """A width that the heads cannot share is refused when the module is built."""
    with check.raises(ValueError):
        check.module(d_model=d_model, n_heads=n_heads, n_kv_heads=n_kv_heads)


@pytest.mark.contract
@pytest.mark.parametrize(("n_heads", "n_kv_heads"), [(4, 3), (6, 4), (2, 4), (3, 6)])
def test_heads_not_divisible_into_groups(check, n_heads, n_kv_heads):
    """Query heads that cannot be shared out evenly, or more key/value heads than query heads."""
    with check.raises(ValueError):
        check.module(d_model=24, n_heads=n_heads, n_kv_heads=n_kv_heads)


@pytest.mark.cost
def test_one_product_for_all_tokens(check, rng):
    """The number of operations does not grow with the number of tokens; a loop over heads is fine."""
    gqa = check.module(d_model=8, n_heads=4, n_kv_heads=2)
    small = gqa.run(rng.normal(2, 8, 8), mask=rng.keep(2, 8, 8)).cost
    large = gqa.run(rng.normal(2, 24, 8), mask=rng.keep(2, 24, 24)).cost
    check.no_loop(small, large, 16, "a Python loop goes over the tokens")


@pytest.mark.cost
def test_nothing_larger_than_the_scores(check, rng):
    """The products of queries and keys are summed as they are made, not laid out one by one."""
    cost = check.module(d_model=32, n_heads=4, n_kv_heads=2).run(rng.normal(2, 32, 32)).cost
    scores = 2 * 4 * 32 * 32
    check.at_most(
        cost.biggest, 2 * scores, "a tensor much larger than the scores is built on the way", cost.biggest_line
    )


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores of 16384 that differ by one or two: float32 tells them apart, and weights keep their digits."""
    gqa = check.module(d_model=4, n_heads=4, n_kv_heads=2)
    unit = torch.eye(4, dtype=torch.float64)
    gqa.set(W_q__weight=unit[[0, 0, 0, 0]], W_k__weight=unit[[1, 1]], W_v__weight=unit[[2, 3]])
    x = rng.normal(2, 5, 4)
    x[..., 0] = 2.0
    x[..., 1] = 2.0**14 + rng.integers(0, 3, 2, 5).double()
    gqa(x)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for sizes in ((1, 1, 1), (18, 9, 9)):
        check.module(*sizes)(rng.normal(2, 3, sizes[0]))
    gqa = check.module(d_model=4, n_heads=2, n_kv_heads=1)
    gqa(rng.normal(4, 4, 4))
    gqa(3e4 * rng.normal(2, 3, 4))
    check.module(d_model=16, n_heads=8, n_kv_heads=1)(rng.normal(2, 4, 16))
    check.module(d_model=6, n_heads=3, n_kv_heads=3)(rng.normal(2, 4, 6), rng.keep(2, 3, 4, 4))
    for length in (3, 9):
        check.module(d_model=8, n_heads=4, n_kv_heads=2)(rng.normal(4, length, 8), rng.keep(4, 1, 1, length))


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("keys", TOKENS)
def test_many_scores_far_from_zero(check, rng, keys):
    """Rows of 20 to 520 scores far above and far below zero: what is visible shares a weight of 1."""
    gqa = check.module(d_model=4, n_heads=4, n_kv_heads=2)
    unit = torch.eye(4, dtype=torch.float64)
    gqa.set(W_q__weight=unit[[0, 0, 0, 0]], W_k__weight=unit[[1, 1]], W_v__weight=unit[[2, 3]])
    for height in FAR if keys < 200 else FAR[1:2]:
        x = rng.normal(2, keys, 4)
        x[..., 0], x[..., 1] = 1.0, far_keys(height, keys)
        gqa.train()(x, rows_of_all_kinds(rng, keys, keys))
        gqa.eval()(x)
