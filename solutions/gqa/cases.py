"""Hidden cases of gqa."""

import pytest
import torch

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


def both_kinds(rng, *shape):
    """Make a random mask that includes a query without and one with everything visible."""
    mask = rng.keep(*shape)
    mask[0, 0] = False
    mask[-1, -1] = True
    return mask


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
@pytest.mark.derive
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for sizes in ((1, 1, 1), (18, 9, 9)):
        check.module(*sizes)(rng.normal(2, 3, sizes[0]))
    gqa = check.module(d_model=4, n_heads=2, n_kv_heads=1)
    gqa(rng.normal(4, 4, 4))
    gqa(3e4 * rng.normal(2, 3, 4))
    check.module(d_model=16, n_heads=8, n_kv_heads=1)(rng.normal(2, 4, 16))
    check.module(d_model=6, n_heads=3, n_kv_heads=3)(rng.normal(2, 4, 6), rng.keep(2, 3, 4, 4))
    check.module(d_model=8, n_heads=4, n_kv_heads=2)(rng.normal(4, 3, 8), rng.keep(4, 1, 1, 3))
