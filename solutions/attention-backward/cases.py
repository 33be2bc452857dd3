"""Hidden cases of attention-backward."""

import pytest
import torch

from grader.kit.attention import KEYS
from grader.kit.digits import keeps_digits


def tensors(rng, *lead, n=3, m=5, d_k=4, d_v=6):
    """Draw queries, keys, values and a gradient of the output, of sizes that all differ."""
    return rng.normal(*lead, n, d_k), rng.normal(*lead, m, d_k), rng.normal(*lead, m, d_v), rng.normal(*lead, n, d_v)


def several(rng, *shape):
    """Make a mask that shows each row two keys at least and hides one at least.

    With a single visible key nothing depends on the scores: dq and dk are all zeros, which rounding may miss.
    """
    visible = rng.integers(2, shape[-1], *shape[:-1], 1)
    return rng.normal(*shape).argsort(-1) < visible


def both_kinds(rng, *shape):
    """Make such a mask with a query that sees nothing and one that sees all."""
    mask = several(rng, *shape)
    mask[0, 0] = False
    mask[-1, -1] = True
    return mask


def test_by_hand(check):
    """The example of the task, in numbers that can be followed on paper."""
    q = torch.tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]])
    k = torch.tensor([[1.0, 0.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0], [5.0, 5.0, 0.0, 0.0]])
    v = torch.tensor([[4.0, 0.0], [0.0, 2.0], [9.0, 9.0]])
    d_output = torch.tensor([[2.0, 2.0], [1.0, 1.0]])
    check(q, k, v, d_output, mask=torch.tensor([[True, True, False], [False, False, False]]))


def test_two_queries_three_keys(check, rng):
    """The smallest call in which all sizes differ."""
    check(*tensors(rng, n=2, m=3, d_k=4, d_v=5))


def test_a_batch(check, rng):
    """Each batch row has keys, values and gradients of its own."""
    check(*tensors(rng, 2))


def test_more_queries_than_keys(check, rng):
    """Nothing says that there are fewer queries than keys."""
    check(*tensors(rng, 2, n=7, m=2))


def test_square_shapes(check, rng):
    """All four sizes agree, where a transposed matrix goes unnoticed by the shapes."""
    check(*tensors(rng, 2, n=4, m=4, d_k=4, d_v=4))
    check(*tensors(rng, 3, 3, n=3, m=3, d_k=3, d_v=3))


@pytest.mark.parametrize("d_k", [1, 3, 16, 64])
def test_scores_of_any_width(check, rng, d_k):
    """The scale is that of the keys' width, and comes back in dq and dk."""
    check(*tensors(rng, 2, d_k=d_k, d_v=3))


def test_widths_of_keys_and_values_differ(check, rng):
    """d_v is smaller than, and larger than, d_k; both are far from 1."""
    check(*tensors(rng, 2, d_k=9, d_v=2))
    check(*tensors(rng, 2, d_k=2, d_v=9))


def test_no_leading_dimension(check, rng):
    """Two axes are enough."""
    check(*tensors(rng))


def test_several_leading_dimensions(check, rng):
    """Batch and heads, and two more."""
    check(*tensors(rng, 2, 3))
    check(*tensors(rng, 2, 1, 3, 2))


def test_as_many_heads_as_batch_rows(check, rng):
    """B == H == n: axes that can be mistaken for each other."""
    check(*tensors(rng, 3, 3, n=3, m=4))


def test_one_feature_one_query(check, rng):
    """Sizes of one, but for the keys."""
    check(*tensors(rng, 2, n=1, m=6))
    check(*tensors(rng, 3, n=4, m=3, d_k=1, d_v=1))


@pytest.mark.precise
@pytest.mark.derive("grad", "device", "contract")
def test_a_single_key(check, rng):
    """Its weight is 1 whatever it scores: query and key get nothing, the value all."""
    check(*tensors(rng, 2, n=4, m=1))
    check(*tensors(rng, 2, n=1, m=1, d_k=1, d_v=1))


def test_gradient_of_a_sum(check, rng):
    """All entries of the gradient are one number in memory, as behind output.sum()."""
    q, k, v, _ = tensors(rng, 2)
    check(q, k, v, torch.ones((), dtype=torch.float64).expand(2, 3, 6))


def test_transposed_inputs(check, rng):
    """Heads that were split off by a transpose are views, not copies."""
    q, k, v = rng.normal(2, 3, 4, 5), rng.normal(2, 6, 4, 5), rng.normal(2, 6, 4, 3)
    check(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), rng.normal(2, 3, 4, 3).transpose(1, 2))


def test_by_keyword(check, rng):
    """The names of the arguments are part of the contract."""
    q, k, v, d_output = tensors(rng, 2)
    check(d_output=d_output, v=v, k=k, q=q)


def test_values_with_a_common_level(check, rng):
    """What all values of a query have in common cancels; rounded to halves on the way, it would leave a rest."""
    level = {torch.float64: 1024.0, torch.float32: 1.0}.get(check.dtype, 16.0)
    q, k, v, d_output = tensors(rng, 2)
    check(q, k, level + v, 1.0 + 0.5 * d_output)
    q, k, v, d_output = tensors(rng, 2, 3)
    check(q, k, level + v, 1.0 + 0.5 * d_output)


@pytest.mark.derive("dtype", "device", "contract")  # second derivatives at a level need digits that nobody promises
def test_scores_with_a_common_level(check, rng):
    """What all scores of a row have in common does not count, and float64 can tell them apart at any level."""
    level = 2.0**8 if check.dtype == torch.float64 else 4.0
    q, k, v, d_output = tensors(rng, 2)
    q[..., 0] = 2.0
    k[..., 0] = level
    check(q, k, v, d_output)
    check(-q, k, v, d_output)


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-100 is a weight: its value may be as large. With a mask and without."""
    q, k, v, d_output = tensors(rng, 2)
    q[..., 0], k[..., 0], k[:, 1, 0] = 2.0, 0.0, -230.0
    v[:, 1] *= 1e100
    check(q, k, v, d_output)
    check(q, k, v, d_output, torch.tensor([True, True, True, True, False]).expand(3, 5))


@pytest.mark.derive("grad", "device")
def test_a_gradient_of_zero(check, rng):
    """What arrives is 0, and so is what goes on; how it would change with what arrives is not."""
    q, k, v, d_output = tensors(rng, 2)
    check(q, k, v, 0.0 * d_output)


@pytest.mark.precise
@pytest.mark.derive("grad", "device", "contract")
def test_scores_of_ten_thousand_and_more(check, rng):
    """Exponentials of such scores are infinite or 0, those of their differences are not."""
    q, k, v, d_output = tensors(rng, 2, m=6)
    q[..., 0], k[..., 0] = 2.0**10, -64.0 * (rng.permutation(6) % 2).double()
    check(q, k, v, d_output)
    check(-q, k, v, d_output)
    for keys in KEYS:
        q, k, v, d_output = tensors(rng, 2, m=keys)
        q[..., 0], k[..., 0] = 2.0**10, -64.0 * (1 + rng.permutation(keys) % 2).double()
        check(q, k, v, d_output)
        check(q, k, v, d_output, both_kinds(rng, 2, 3, keys))


@pytest.mark.mask
def test_hides_some_keys(check, rng):
    """A mask per batch row."""
    check(*tensors(rng, 2), mask=several(rng, 2, 3, 5))


@pytest.mark.mask
def test_mask_is_the_fifth_argument(check, rng):
    """The signature is part of the contract: q, k, v, d_output, mask."""
    check(*tensors(rng, 2), several(rng, 2, 3, 5))


@pytest.mark.mask
def test_everything_visible(check, rng):
    """A mask that hides nothing changes nothing."""
    check(*tensors(rng, 2), mask=torch.ones(2, 3, 5, dtype=torch.bool))


@pytest.mark.mask
def test_one_mask_for_the_batch(check, rng):
    """Two axes are (n, m), also when B == n."""
    check(*tensors(rng, 3, n=3, m=5), mask=several(rng, 3, 5))
    check(*tensors(rng, 4, 4, n=4, m=4), mask=both_kinds(rng, 4, 4, 4)[-1])
    check(*tensors(rng), mask=several(rng, 3, 5))


@pytest.mark.mask
@pytest.mark.parametrize("shape", [(3, 1, 5), (1, 3, 5), (1, 1, 5), (3, 3, 5)])
def test_mask_of_three_axes(check, rng, shape):
    """(B, n, m), where any axis but the last may be 1."""
    check(*tensors(rng, 3), mask=several(rng, *shape))


@pytest.mark.mask
@pytest.mark.parametrize("shape", [(2, 1, 1, 5), (2, 1, 3, 5), (1, 4, 3, 5), (2, 4, 3, 5)])
def test_mask_of_four_axes(check, rng, shape):
    """(B, H, n, m), where any axis but the last may be 1."""
    check(*tensors(rng, 2, 4), mask=several(rng, *shape))


@pytest.mark.mask
def test_causal_mask(check, rng):
    """The lower triangle: the last key hears of one query alone, the first of all."""
    check(*tensors(rng, 2, n=5, m=5), mask=torch.ones(5, 5, dtype=torch.bool).tril())


@pytest.mark.mask
def test_nothing_visible_for_a_query(check, rng):
    """That query adds nothing, and gets nothing; its neighbours are not disturbed."""
    check(*tensors(rng, 2), mask=both_kinds(rng, 2, 3, 5))
    check(*tensors(rng, 2, 3), mask=both_kinds(rng, 2, 3, 3, 5))


@pytest.mark.mask
def test_nothing_visible_in_one_sequence(check, rng):
    """An empty sequence in the batch, hidden by a mask that broadcasts over the queries."""
    mask = several(rng, 3, 1, 5)
    mask[1] = False
    check(*tensors(rng, 3), mask=mask)


@pytest.mark.mask
def test_nothing_visible_at_all(check, rng):
    """Everything hidden, also when there is one key only: three zeros."""
    check(*tensors(rng, 2), mask=torch.zeros(3, 5, dtype=torch.bool))
    check(*tensors(rng, 2, m=1), mask=torch.zeros(2, 3, 1, dtype=torch.bool))


@pytest.mark.mask
@pytest.mark.derive("grad", "device", "contract")
def test_hidden_keys_match_best(check, rng):
    """Hidden keys with scores of 60000 and large values: they must not matter."""
    mask = several(rng, 3, 1, 5)
    mask[0] = True
    q, k, v, d_output = tensors(rng, 3)
    q[..., 0] = 4.0
    hidden = ~mask.transpose(1, 2)
    check(q, torch.where(hidden, 3e4 + rng.normal(3, 5, 4), k), torch.where(hidden, 100.0, v), d_output, mask=mask)


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("level", [3e4, 2.0**40, 2.0**83])
def test_no_finite_score_is_too_low(check, rng, level):
    """The visible score lies far below the hidden zeros: a stand-in for minus infinity would rank between."""
    mask = torch.nn.functional.one_hot(rng.integers(0, 6, 2), 6).bool()
    q, k, v, d_output = tensors(rng, 2, m=6, d_v=1)  # one visible key, one product: what is 0 on paper is exactly 0
    q[...] = 0.0
    q[..., 0] = -level
    k[..., 0] = mask.double()
    check(q, k, v, d_output, mask=mask[:, None])


@pytest.mark.mask
def test_what_is_hidden_leaves_no_trace(check, rng):
    """Changing hidden keys and their values must not change one bit, and they get a gradient of exactly 0."""
    mask = several(rng, 2, 1, 6)
    q, k, v, d_output = tensors(rng, 2, m=6)
    hidden = ~mask.transpose(1, 2)
    before = check(q, k, v, d_output, mask=mask)
    other_k = torch.where(hidden, rng.normal(2, 6, 4, scale=30.0), k)
    other_v = torch.where(hidden, rng.normal(2, 6, 6, scale=30.0), v)
    after = check(q, other_k, other_v, d_output, mask=mask)
    check.same(before, after, "the result moved when only hidden keys and values were changed")


@pytest.mark.precise
@pytest.mark.derive("grad", "device", "contract")
def test_digits_of_double_precision(check, rng):
    """In float64 all digits count."""
    result = check(*tensors(rng, 2))
    check.that(keeps_digits(result), "numbers of float64 came back with the digits of a shorter type")


@pytest.mark.derive("grad")
def test_sizes_that_people_run(check, rng):
    """Six hundred tokens, six hundred keys, wide heads and many of them: nothing changes with size."""
    check(*tensors(rng, 1, n=600, m=5))
    check(*tensors(rng, 9, n=4, m=600, d_k=96))


@pytest.mark.cost
def test_products_for_all_queries(check, rng):
    """The number of operations does not grow with the number of queries or keys: no Python loop goes over them."""

    def cost(n, m):
        q, k, v, d_output = tensors(rng, 2, n=n, m=m, d_k=8)
        return check.run(q, k, v, d_output, several(rng, 2, n, m)).cost

    small = cost(8, 8)
    check.no_loop(small, cost(24, 8), 16, "a Python loop goes over the queries")
    check.no_loop(small, cost(8, 24), 16, "a Python loop goes over the keys")


@pytest.mark.cost
def test_no_jacobian(check, rng):
    """The softmax's Jacobian has a row for each weight: it is multiplied without being laid out."""
    cost = check.run(*tensors(rng, 2, n=32, m=32, d_k=16, d_v=16), several(rng, 2, 32, 32)).cost
    scores = 2 * 32 * 32
    check.at_most(
        cost.biggest, 4 * scores, "a tensor much larger than the scores is built on the way", cost.biggest_line
    )


@pytest.mark.cost
def test_five_products(check, rng):
    """Scores, dv, d_weights, dq and dk: each is a product of n · m · d, and two more are allowed."""
    n, m, d = 24, 40, 16
    cost = check.run(*tensors(rng, 2, n=n, m=m, d_k=d, d_v=d), several(rng, 2, n, m)).cost
    check.at_most(cost.madds, 7 * 2 * n * m * d, "more multiply-adds than seven products of n · m · d")


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    check(*tensors(rng, 9, 1, n=2, m=3, d_v=70))
    check(*tensors(rng, 1, 2))
    q, k, v, d_output = tensors(rng, 2)
    check(3e4 * q, k / 3e4, 3e4 * v, d_output)
    check(q, k, v, 3e5 * d_output)


@pytest.mark.precise
@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = rng.normal(2, 4, 4, scale=scale)
    check(x, x, x, x)
    check(x, x, x, rng.normal(2, 4, 4))
    check(x, x, x, x, several(rng, 4, 4))


@pytest.mark.mask
@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_under_a_mask(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: what is hidden stays hidden."""
    check(*tensors(rng, 9, 1, n=600, m=5, d_k=1, d_v=9), several(rng, 9, 1, 600, 5))
    check(*tensors(rng, 1, 9, n=1, m=300, d_k=70, d_v=70), several(rng, 1, 9, 1, 300))
    check(*tensors(rng, 2, 2, 2, 3, d_k=6), several(rng, 1, 1, 2, 3, 3, 5))
    q, k, v, d_output = tensors(rng, 2)
    q[..., 0], k[..., 0] = 1536.0, 2.0
    check(q, k, v, d_output, several(rng, 2, 3, 5))
