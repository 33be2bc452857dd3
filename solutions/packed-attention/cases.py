"""Hidden cases of packed-attention."""

from itertools import accumulate

import pytest
import torch


def packed(rng, lengths, d_k=4, d_v=3, heads=3):
    """Draw queries, keys and values of sequences of these lengths, and where each begins."""
    total = sum(lengths)
    q, k, v = rng.normal(total, heads, d_k), rng.normal(total, heads, d_k), rng.normal(total, heads, d_v)
    return q, k, v, [0, *accumulate(lengths)]


def leveled(rng, lengths, first, step):
    """Make all scores lie at first, first + step, ... exactly, in random order; d_k = 4."""
    q, k, v, cu_seqlens = packed(rng, lengths)
    q[..., 0], q[..., 1:] = 2.0, 0.0
    k[..., 0] = first + step * rng.normal(len(q), 3).argsort(0).double()
    return q, k, v, cu_seqlens


def test_by_hand(check):
    """The example of the brief: the only token of the first sequence would match best."""
    q, k = (torch.tensor(x, dtype=torch.float64)[:, None, None] for x in ([1, 1, 1, 1], [9, 0, 1, 2]))
    v = torch.eye(4, dtype=torch.float64)[:, None]
    for causal in (False, True):
        check(q, k, v, [0, 1, 1, 4], causal)


@pytest.mark.parametrize("causal", [False, True])
def test_one_sequence(check, rng, causal):
    """Nothing to keep apart: ordinary attention with heads behind the tokens."""
    check(*packed(rng, [4], heads=2), causal)


@pytest.mark.parametrize("causal", [False, True])
def test_two_sequences(check, rng, causal):
    """Two tokens and three."""
    check(*packed(rng, [2, 3], heads=2), causal)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [[3, 5, 2], [1, 6], [6, 1], [4, 4, 4], [1, 1, 1, 1], [2, 1, 3, 1, 2]], ids=str)
def test_lengths(check, rng, lengths, causal):
    """Short and long sequences in any order, equal ones, single tokens."""
    check(*packed(rng, lengths), causal)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [[0, 3, 2], [3, 0, 2], [3, 2, 0], [0, 0, 4, 0, 0, 1], [2, 0]], ids=str)
def test_empty_sequences(check, rng, lengths, causal):
    """A sequence without tokens, in front, between, at the end, several together."""
    check(*packed(rng, lengths), causal)


def test_arguments_by_name(check, rng):
    """The names of the arguments are part of the contract."""
    q, k, v, cu_seqlens = packed(rng, [3, 2])
    check(causal=True, cu_seqlens=cu_seqlens, v=v, k=k, q=q)
    check(q, k, v, cu_seqlens=cu_seqlens)


@pytest.mark.parametrize("causal", [False, True])
def test_all_sizes_equal(check, rng, causal):
    """B == H == S == d_k == d_v, where a wrong axis does not show in the shape."""
    check(*packed(rng, [3, 3, 3], d_k=3, d_v=3, heads=3), causal)
    check(*packed(rng, [4], d_k=4, d_v=4, heads=4), causal)


def test_sizes_of_one(check, rng):
    """One sequence, one token, one head, one feature."""
    check(*packed(rng, [1], d_k=1, d_v=1, heads=1))
    check(*packed(rng, [2, 3], d_k=1, d_v=1, heads=1), True)


@pytest.mark.parametrize("widths", [(9, 2), (2, 9), (16, 16)])
def test_widths(check, rng, widths):
    """d_k and d_v: the spread of the scores must not depend on them."""
    check(*packed(rng, [3, 4], *widths))


@pytest.mark.derive("grad", "device", "contract")
@pytest.mark.parametrize("causal", [False, True])
def test_many_sequences(check, rng, causal):
    """Thirty sequences of lengths from 0 to 9."""
    lengths = [int(length) for length in rng.integers(0, 10, 28)]
    check(*packed(rng, [9, *lengths, 2], heads=2), causal)


def test_sequences_of_a_longer_row(check, rng):
    """Transposed and sliced inputs are views, not copies."""
    q, k, v = rng.normal(3, 6, 5), rng.normal(3, 6, 5), rng.normal(3, 6, 2)
    check(q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), [0, 2, 6])
    x = rng.normal(8, 2, 12)
    check(x[1:7, :, :4], x[1:7, :, 4:8], x[1:7, :, 8:], [0, 4, 6], True)


def test_one_tensor_three_times(check, rng):
    """Queries, keys and values may be the same tensor."""
    x = rng.normal(6, 3, 4)
    check(x, x, x, [0, 4, 6])


@pytest.mark.derive("dtype", "device", "contract")
@pytest.mark.parametrize("causal", [False, True])
def test_sharp_scores(check, rng, causal):
    """Scores of some hundreds: exp alone would overflow."""
    q, k, v, cu_seqlens = packed(rng, [3, 4])
    q[..., 0], k[..., 0] = 32.0, 32.0 * rng.permutation(7).double()[:, None]
    check(q, k, v, cu_seqlens, causal)


def test_scores_with_a_common_level(check, rng):
    """What all scores of a row have in common does not count, and float64 can tell them apart at any level."""
    q, k, v, cu_seqlens = packed(rng, [2, 4])
    q[..., 0] = 2.0
    k[..., 0] = 2.0**14 if check.dtype == torch.float64 else 4.0
    check(q, k, v, cu_seqlens)
    check(-q, k, v, cu_seqlens, True)


@pytest.mark.mask
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [[2, 3, 2], [1, 1, 5]], ids=str)
def test_best_matches_lie_in_another_sequence(check, rng, lengths, causal):
    """The later a sequence the better its keys match, or the worse."""
    q, k, v, cu_seqlens = packed(rng, lengths)
    q[..., 0] = 4.0
    k[..., 0] = torch.linspace(-30.0, 30.0, 7, dtype=torch.float64)[:, None]
    check(q, k, v, cu_seqlens, causal)
    check(-q, k, v, cu_seqlens, causal)


@pytest.mark.mask
@pytest.mark.derive
@pytest.mark.parametrize("causal", [False, True])
def test_other_sequences_leave_no_trace(check, rng, causal):
    """The sequences to both sides are replaced: not one bit of the one between them may change."""
    q, k, v, cu_seqlens = packed(rng, [3, 4, 2])
    before = check(q, k, v, cu_seqlens, causal).got
    others = [x.clone() for x in (q, k, v)]
    for x in others:
        x[:3], x[7:] = 100.0 * x[:3].flip(0), -100.0 * x[7:]
    after = check(*others, cu_seqlens, causal).got
    check.same(after[3:7], before[3:7], "a result depends on another sequence")


@pytest.mark.mask
@pytest.mark.derive
def test_where_a_sequence_stands_does_not_matter(check, rng):
    """The sequences change places: each has the results that it had."""
    q, k, v, cu_seqlens = packed(rng, [3, 4])
    turned = [torch.cat([x[3:], x[:3]]) for x in (q, k, v)]
    for causal in (False, True):
        first = check(q, k, v, cu_seqlens, causal).got
        second = check(*turned, [0, 4, 7], causal).got
        check.close(second[:4], first[3:], "a sequence has other results at another place")


@pytest.mark.mask
@pytest.mark.derive
def test_later_tokens_leave_no_trace(check, rng):
    """Later keys and values are replaced: not one bit of the earlier results may change."""
    q, k, v, cu_seqlens = packed(rng, [2, 5])
    before = check(q, k, v, cu_seqlens, True).got
    keys, values = k.clone(), v.clone()
    keys[5:], values[5:] = rng.normal(2, 3, 4, scale=20.0), rng.normal(2, 3, 3, scale=100.0)
    after = check(q, keys, values, cu_seqlens, True).got
    check.same(after[:5], before[:5], "a result depends on a later token")


@pytest.mark.mask
@pytest.mark.parametrize("causal", [False, True])
def test_visible_scores_far_below_zero(check, rng, causal):
    """All scores lie at -12288 and less; what is hidden must not win."""
    check(*leveled(rng, [2, 1, 3], -12288.0, -3072.0), causal)


@pytest.mark.mask
@pytest.mark.derive
def test_scores_of_zero(check, rng):
    """A key of zeros and a query of zeros: what is visible stays visible."""
    q, k, v, cu_seqlens = packed(rng, [3, 4])
    q[1], k[4] = 0.0, 0.0
    check(q, k, v, cu_seqlens)
    check(q, k, v, cu_seqlens, True)


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("level", [-(2.0**40), -(2.0**83)])
def test_no_score_is_too_low(check, rng, level):
    """A finite stand-in for minus infinity is only as good as the lowest score it meets."""
    check(*leveled(rng, [3, 0, 4], level, level))
    check(*leveled(rng, [3, 4], level, level), True)


def cost(check, rng, lengths, causal):
    """Count what sequences of these lengths cost."""
    return check.run(*packed(rng, lengths, d_k=8, d_v=8, heads=2), causal).cost


@pytest.mark.cost
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("count", [2, 8])
def test_cost_of_more_sequences(check, rng, causal, count):
    """Eight times as many sequences of the same length take eight times the work: nobody looks at the others."""
    small, large = cost(check, rng, [16] * count, causal), cost(check, rng, [16] * 8 * count, causal)
    check.at_most(large.work, 16 * small.work, "eight times as many sequences take far more than eight times the work")
    check.at_most(
        large.biggest,
        16 * small.biggest,
        "eight times as many sequences need a tensor far more than eight times as large",
        large.biggest_line,
    )


@pytest.mark.cost
@pytest.mark.parametrize("causal", [False, True])
def test_cost_of_short_sequences_beside_a_long_one(check, rng, causal):
    """One sequence of 64 tokens pays for itself; those of two beside it do not pay as much each."""
    for before, after, share in ([4, 36, 2], [0, 1, 1.5], [0, 2, 2]):
        few, many = (cost(check, rng, [2] * short + [64], causal) for short in (before, after))
        check.at_most(many.work, share * few.work, "short sequences cost as much as the longest one")
        check.at_most(
            many.biggest,
            share * few.biggest,
            "short sequences take as much memory as the longest one",
            many.biggest_line,
        )


@pytest.mark.cost
def test_no_loop_over_tokens(check, rng):
    """The same number of sequences, six times as long: no more calls of operators."""
    small, large = cost(check, rng, [8, 4, 6], causal=True), cost(check, rng, [48, 24, 36], causal=True)
    check.no_loop(small, large, 90, "the calls grow with the tokens of a sequence")


@pytest.mark.derive
@pytest.mark.parametrize("causal", [False, True])
def test_sizes_that_people_run(check, rng, causal):
    """Six hundred tokens cut out of a longer row, one sequence of 530 among them; twelve heads; one of 300."""
    q, k, v, _ = packed(rng, [601], d_k=2, d_v=2, heads=1)
    check(q[1:], k[1:], v[1:], [0, 20, 550, 551, 600], causal)
    check(*packed(rng, [4, 3], heads=12), causal)
    check(*packed(rng, [300, 2], d_k=2, d_v=2, heads=1), causal)


@pytest.mark.derive("dtype")
def test_hundreds_of_sequences(check, rng):
    """Three hundred sequences: which one a token belongs to is no number of half precision, nor of eight bits."""
    lengths = [int(length) for length in rng.integers(0, 3, 100)]
    check(*packed(rng, [1] * 200 + lengths + [2, 1], d_k=2, d_v=2, heads=1), True)


@pytest.mark.large
@pytest.mark.derive
def test_a_row_of_thirty_thousand_tokens(check, rng):
    """A batch as they are trained: where its sequences begin is no number of 16 bits."""
    lengths = [50 + int(more) for more in rng.integers(0, 20, 600)]
    check(*packed(rng, lengths, d_k=1, d_v=1, heads=1))


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores of 16384 that differ by one or two: float32 tells them apart, and weights keep their digits."""
    q, k, v, cu_seqlens = packed(rng, [3, 4])
    q[..., 0], q[..., 1:] = 2.0, 0.0
    k[..., 0] = 2.0**14 + rng.integers(0, 3, 7, 3).double()
    check(q, k, v, cu_seqlens)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    q, k, v, cu_seqlens = packed(rng, [4, 6], 70, 70, heads=2)
    check(q, k, v, cu_seqlens)
    check(3e4 * q, k / 3e4, v, cu_seqlens, True)
    check(*packed(rng, [3, 2], 2, 2, heads=300), True)
    check(*packed(rng, [2, 1]))


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = rng.normal(5, 3, 4, scale=scale)
    check(x, x, x, [0, 2, 5], True)
