"""Hidden cases of sdpa."""

import pytest
import torch

from grader.kit.attention import FAR, KEYS, both_kinds, far_keys, rows_of_all_kinds
from grader.kit.digits import keeps_digits


def tensors(rng, *lead, n=3, m=5, d_k=4, d_v=6):
    """Draw queries, keys and values whose sizes all differ."""
    return rng.normal(*lead, n, d_k), rng.normal(*lead, m, d_k), rng.normal(*lead, m, d_v)


def low_scores(rng, mask, first, step):
    """Make one query whose visible keys score first, first + step, ... exactly, and whose hidden ones score near 0."""
    q, k, v = tensors(rng, *mask.shape[:-1], n=1, m=mask.shape[-1], d_k=4)
    q[..., 0], q[..., 1:] = 2.0, 0.0
    levels = first + step * rng.normal(*mask.shape).argsort(-1).double()
    k[..., 0] = torch.where(mask, levels, rng.normal(*mask.shape))
    return q, k, v


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    q = torch.tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]])
    k = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]])
    v = torch.tensor([[10.0, 0.0], [0.0, 10.0], [90.0, 90.0]])
    check(q, k, v, mask=torch.tensor([[True, True, False], [False, False, False]]))


def test_two_queries_three_keys(check, rng):
    """The smallest call in which all sizes differ."""
    q, k, v = tensors(rng, n=2, m=3, d_k=4, d_v=1)
    check(q, k, v + 2.0)  # two means may come near nought, where half precision has few digits


def test_a_batch(check, rng):
    """Each batch row attends to its own keys only."""
    check(*tensors(rng, 2))


def test_more_queries_than_keys(check, rng):
    """Nothing says that there are fewer queries than keys."""
    check(*tensors(rng, 2, n=7, m=2))


def test_one_set_of_values_for_all(check, rng):
    """Self-attention: the same tensor three times."""
    x = rng.normal(2, 5, 4)
    check(x, x, x)


def test_square_shapes(check, rng):
    """All four sizes agree, where a transposed matrix goes unnoticed by the shapes."""
    check(*tensors(rng, 2, n=4, m=4, d_k=4, d_v=4))
    check(*tensors(rng, 3, 3, n=3, m=3, d_k=3, d_v=3))


def test_widths_of_keys_and_values_differ(check, rng):
    """d_v is smaller than, and larger than, d_k; both are far from 1."""
    check(*tensors(rng, 2, d_k=9, d_v=2))
    check(*tensors(rng, 2, d_k=2, d_v=9))


@pytest.mark.parametrize("d_k", [1, 3, 16, 64])
def test_scores_of_any_width(check, rng, d_k):
    """The spread of q·k grows with the width; the scores' does not."""
    check(*tensors(rng, 2, d_k=d_k, d_v=3))


def test_sizes_of_one(check, rng):
    """One query, one key, one feature."""
    check(*tensors(rng, 2, n=1, m=1, d_k=1, d_v=1))
    check(*tensors(rng, 1, n=1, m=6))
    check(*tensors(rng, 2, n=4, m=1))


def test_no_leading_dimension(check, rng):
    """Two matrices are enough."""
    check(*tensors(rng))


def test_several_leading_dimensions(check, rng):
    """Batch and heads, and two more."""
    check(*tensors(rng, 2, 3))
    check(*tensors(rng, 2, 1, 3, 2))


def test_as_many_heads_as_batch_rows(check, rng):
    """B == H == n: axes that can be mistaken for each other."""
    check(*tensors(rng, 3, 3, n=3, m=4))


def test_transposed_inputs(check, rng):
    """Heads that were split off by a transpose are views, not copies."""
    q, k, v = rng.normal(2, 3, 4, 5), rng.normal(2, 6, 4, 5), rng.normal(2, 6, 4, 3)
    check(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))


@pytest.mark.derive("dtype", "device", "contract")
def test_sharp_scores(check, rng):
    """Scores of some hundreds: the winner takes it all, and exp alone would overflow."""
    q, k, v = tensors(rng, 2)
    q[..., 0], k[..., 0] = 32.0, 32.0 * rng.permutation(5).double()
    check(q, k, v)


def test_scores_with_a_common_level(check, rng):
    """What all scores of a row have in common does not count, and float64 can tell them apart at any level."""
    level = 2.0**14 if check.dtype == torch.float64 else 4.0
    q, k, v = tensors(rng, 2, d_k=4)
    q[..., 0] = 2.0
    k[..., 0] = level
    check(q, k, v)
    check(-q, k, v)


@pytest.mark.derive("device", "contract")
def test_scores_of_ten_thousand_and_more(check, rng):
    """No score is too large, and none too small, to be a score."""
    q, k, v = tensors(rng, 2)
    q[..., 0], k[..., 0] = 2.0**10, -(2.0**11) * (1 + rng.permutation(5).double())
    check(q, k, v)
    check(-q, k, v)


@pytest.mark.mask
def test_hides_some_keys(check, rng):
    """A mask per batch row."""
    check(*tensors(rng, 2), mask=rng.keep(2, 3, 5))


@pytest.mark.mask
def test_mask_is_the_fourth_argument(check, rng):
    """The signature is part of the contract: q, k, v, mask."""
    q, k, v = tensors(rng, 2)
    check(q, k, v, rng.keep(2, 3, 5))


@pytest.mark.mask
def test_everything_visible(check, rng):
    """A mask that hides nothing changes nothing."""
    check(*tensors(rng, 2), mask=torch.ones(2, 3, 5, dtype=torch.bool))


@pytest.mark.mask
def test_one_mask_for_the_batch(check, rng):
    """Two axes are (n, m), also when B == n."""
    check(*tensors(rng, 3, n=3, m=5), mask=rng.keep(3, 5))
    check(*tensors(rng, 4, 4, n=4, m=4), mask=both_kinds(rng, 4, 4, 4)[0])
    check(*tensors(rng), mask=rng.keep(3, 5))


@pytest.mark.mask
@pytest.mark.parametrize("shape", [(3, 1, 5), (1, 3, 5), (1, 1, 5), (3, 3, 5)])
def test_mask_of_three_axes(check, rng, shape):
    """(B, n, m), where any axis but the last may be 1."""
    check(*tensors(rng, 3), mask=rng.keep(*shape))


@pytest.mark.mask
@pytest.mark.parametrize("shape", [(2, 1, 1, 5), (2, 1, 3, 5), (1, 4, 3, 5), (2, 4, 3, 5)])
def test_mask_of_four_axes(check, rng, shape):
    """(B, H, n, m), where any axis but the last may be 1."""
    check(*tensors(rng, 2, 4), mask=rng.keep(*shape))


@pytest.mark.mask
def test_causal_mask(check, rng):
    """The lower triangle: position i sees 0 to i."""
    check(*tensors(rng, 2, n=5, m=5), mask=torch.ones(5, 5, dtype=torch.bool).tril())


@pytest.mark.mask
def test_nothing_visible_for_a_query(check, rng):
    """That query gets weights 0 and output 0; its neighbours are not disturbed."""
    check(*tensors(rng, 2), mask=both_kinds(rng, 2, 3, 5))
    check(*tensors(rng, 2, 3), mask=both_kinds(rng, 2, 3, 3, 5))


@pytest.mark.mask
def test_nothing_visible_in_one_sequence(check, rng):
    """An empty sequence in the batch, hidden by a mask that broadcasts over the queries."""
    mask = rng.keep(3, 1, 5)
    mask[1] = False
    check(*tensors(rng, 3), mask=mask)


@pytest.mark.mask
def test_nothing_visible_at_all(check, rng):
    """Everything hidden, also when there is one key only."""
    check(*tensors(rng, 2), mask=torch.zeros(3, 5, dtype=torch.bool))
    check(*tensors(rng, 2, m=1), mask=torch.zeros(2, 3, 1, dtype=torch.bool))


@pytest.mark.mask
def test_hidden_keys_match_best(check, rng):
    """Hidden keys with scores around 100 and large values: they must not matter."""
    mask = both_kinds(rng, 3, 1, 5)
    q, k, v = tensors(rng, 3)
    q[..., 0], q[..., 1:] = 4.0, 0.25 * q[..., 1:]  # else a score may be low, too, and -65504 with it no number
    hidden = ~mask.transpose(1, 2)
    check(q, torch.where(hidden, 50.0 + rng.normal(3, 5, 4), k), torch.where(hidden, 90.0, v), mask=mask)


@pytest.mark.mask
@pytest.mark.derive("grad", "device", "contract")
def test_hidden_keys_match_by_thousands(check, rng):
    """Hidden keys with scores of 60000: whoever merely lowers them, or rescales afterwards, lets them through."""
    mask = both_kinds(rng, 3, 1, 5)
    q, k, v = tensors(rng, 3)
    q[..., 0] = 4.0
    hidden = ~mask.transpose(1, 2)
    check(q, torch.where(hidden, 3e4 + rng.normal(3, 5, 4), k), torch.where(hidden, 100.0, v), mask=mask)


@pytest.mark.mask
def test_visible_scores_are_very_negative(check, rng):
    """Visible scores of -12288 and less beside hidden ones near 0."""
    mask = rng.keep(2, 3, 6)
    check(*low_scores(rng, mask, -12288.0, -3072.0), mask=mask[:, :, None])


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize(("first", "step"), [(-7e4, -4e3), (-(2.0**40), -(2.0**40)), (-(2.0**120), -(2.0**120))])
def test_no_finite_score_is_too_low(check, rng, first, step):
    """A finite stand-in for minus infinity is only as good as the lowest score it meets."""
    mask = rng.keep(2, 3, 6)
    check(*low_scores(rng, mask, first, step), mask=mask[:, :, None])


@pytest.mark.mask
def test_common_level_under_a_mask(check, rng):
    """The visible scores share a level of their own; float64 can tell them apart at any level."""
    q, k, v = tensors(rng, 2, d_k=4)
    q[..., 0] = 2.0
    k[..., 0] = 2.0**14 if check.dtype == torch.float64 else 4.0
    check(q, k, v, mask=both_kinds(rng, 2, 3, 5))


@pytest.mark.mask
def test_what_is_hidden_leaves_no_trace(check, rng):
    """Changing hidden keys and their values must not change one bit of output or weights."""
    mask = rng.keep(2, 1, 6)
    q, k, v = tensors(rng, 2, m=6)
    hidden = ~mask.transpose(1, 2)
    before = check(q, k, v, mask=mask)
    after = check(
        q,
        torch.where(hidden, rng.normal(2, 6, 4, scale=30.0), k),
        torch.where(hidden, rng.normal(2, 6, 6, scale=30.0), v),
        mask=mask,
    )
    check.same(before, after, "the result moved when only hidden keys and values were changed")


@pytest.mark.mask
@pytest.mark.derive("dtype", "device")
def test_future_leaves_no_trace(check, rng):
    """Under a causal mask the first queries do not feel the last token."""
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    x = rng.normal(2, 5, 4)
    changed = x.clone()
    changed[:, 4] = rng.normal(2, 4, scale=10.0)
    before, _ = check(x, x, x, mask=causal)
    after, _ = check(changed, changed, changed, mask=causal)
    check.that(
        torch.equal(before.got[:, :4], after.got[:, :4]), "earlier positions moved when only the last token changed"
    )


@pytest.mark.precise
@pytest.mark.derive("grad", "device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-250 is a weight: its value may be as large. In float64 all digits count."""
    q, k, v = tensors(rng, 2)
    q[..., 0], k[..., 0], k[:, 1, 0] = 2.0, 0.0, -500.0
    v[:, 1] *= 1e250
    check(q, k, v)
    result = check(*tensors(rng, 2))
    check.that(keeps_digits(result), "numbers of float64 came back with the digits of a shorter type")


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
def test_the_visible_score_is_the_lowest(check, rng):
    """The only visible key matches worst of all: there is no room below it."""
    mask = torch.nn.functional.one_hot(rng.integers(0, 6, 2), 6).bool()
    check(*low_scores(rng, mask, -(2.0**40), 0.0), mask=mask[:, None])


@pytest.mark.derive("grad")
def test_sizes_that_people_run(check, rng):
    """Six hundred tokens, three hundred keys, wide heads and many of them: nothing changes with size."""
    check(*tensors(rng, 1, n=600, m=5))
    check(*tensors(rng, 9, n=4, m=300, d_k=96))


@pytest.mark.cost
def test_one_product_for_all_queries(check, rng):
    """The number of operations does not grow with the number of queries or keys: no Python loop goes over them."""

    def cost(n, m):
        return check.run(rng.normal(2, n, 8), rng.normal(2, m, 8), rng.normal(2, m, 6), rng.keep(2, n, m)).cost

    small = cost(8, 8)
    check.no_loop(small, cost(24, 8), 16, "a Python loop goes over the queries")
    check.no_loop(small, cost(8, 24), 16, "a Python loop goes over the keys")


@pytest.mark.cost
def test_nothing_larger_than_the_scores(check, rng):
    """Products are summed as they are made, not laid out one by one."""
    cost = check.run(rng.normal(2, 32, 16), rng.normal(2, 32, 16), rng.normal(2, 32, 16), rng.keep(2, 32, 32)).cost
    scores = 2 * 32 * 32
    check.at_most(
        cost.biggest, 4 * scores, "a tensor much larger than the scores is built on the way", cost.biggest_line
    )


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores of 16384 that differ by one or two: float32 tells them apart, and weights keep their digits."""
    q, k, v = tensors(rng, 2, d_k=16)
    q, k = torch.zeros_like(q), torch.zeros_like(k)
    q[..., 0] = 4.0
    k[..., 0] = 2.0**14 + rng.integers(0, 3, 2, 5).double()
    check(q, k, v)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    check(*tensors(rng, 9, 1, n=2, m=3, d_v=70))
    check(*tensors(rng, 1, 2))
    q, k, v = tensors(rng, 2)
    check(3e4 * q, k / 3e4, 3e4 * v)
    check(*tensors(rng, 2, 2, 3), rng.keep(2, 2, 3, 3, 5))


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = rng.normal(2, 4, 4, scale=scale)
    check(x, x, x)
    check(x, x, x, rng.keep(4, 4))


@pytest.mark.mask
@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_under_a_mask(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: what is hidden stays hidden."""
    check(*tensors(rng, 9, 1, n=600, m=5, d_k=1, d_v=9), rng.keep(9, 1, 600, 5))
    check(*tensors(rng, 1, n=600, m=5), rng.keep(1, 5))
    check(*tensors(rng, 1, 9, n=1, m=300, d_k=70, d_v=1), rng.keep(1, 9, 1, 300))
    check(*tensors(rng, 2, 2, 2, 3), rng.keep(1, 1, 2, 3, 3, 5))
    q, k, v = tensors(rng, 2, d_v=70)
    check(3e4 * q, k / 3e4, 3e4 * v, rng.keep(2, 3, 5))


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("keys", KEYS)
def test_many_scores_far_from_zero(check, rng, keys):
    """Rows of 20 to 600 scores far above and far below zero: what is visible shares a weight of 1."""
    _, _, v = tensors(rng, 2, n=4, m=keys)
    for height in FAR:
        q, k = torch.ones(2, 4, 1, dtype=torch.float64), far_keys(height, keys).expand(2, -1)[..., None]
        check(q, k, v, rows_of_all_kinds(rng, 4, keys))
        check(q, k, v)
