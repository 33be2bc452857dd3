"""Hidden cases of sliding-window."""

import pytest
import torch

from grader.kit.attention import FAR, far_levels


def tensors(rng, n, m, d_k=4, d_v=3, batch=2, heads=3):
    """Draw queries, keys and values of (batch, heads, ...)."""
    shape = (batch, heads)
    return rng.normal(*shape, n, d_k), rng.normal(*shape, m, d_k), rng.normal(*shape, m, d_v)


def low_scores(rng, n, m, first, step):
    """Make all scores lie at first, first + step, ... exactly, in random order; d_k = 4, m at most 6."""
    q, k, v = tensors(rng, n, m)
    q[..., 0], q[..., 1:] = 2.0, 0.0
    k[..., 0] = first + step * rng.normal(2, 3, m).argsort(-1).double()
    return q, k, v


def test_by_hand(check):
    """The example of the brief: every query scores 0, 1 and 2 with the keys."""
    q, k = (torch.tensor([[x]], dtype=torch.float64).mT for x in ([[1, 1, 1]], [[0, 1, 2]]))
    v = torch.eye(3, dtype=torch.float64)[None, None]
    for window in (1, 2, 9):
        check(q, k, v, window)
    check(q[:, :, 1:], k, v, 2)


def test_three_tokens(check, rng):
    """A window of two on three tokens."""
    check(*tensors(rng, 3, 3, d_k=2, d_v=2, batch=1, heads=1), 2)


@pytest.mark.parametrize("window", [1, 2, 3, 5, 6, 7, 40])
def test_window(check, rng, window):
    """From the query's own key alone to more keys than there are."""
    check(*tensors(rng, 6, 6), window)


def test_window_by_name(check, rng):
    """The names of the arguments are part of the contract."""
    q, k, v = tensors(rng, 5, 5)
    check(q=q, k=k, v=v, window=3)


@pytest.mark.parametrize("sizes", [(3, 8, 2), (3, 8, 4), (2, 8, 7), (5, 7, 3), (4, 6, 9), (6, 7, 1)])
def test_fewer_queries_than_keys(check, rng, sizes):
    """n, m, window: the queries are the last n of m positions."""
    n, m, window = sizes
    check(*tensors(rng, n, m), window)


@pytest.mark.parametrize("window", [1, 3, 7, 12])
def test_one_query(check, rng, window):
    """A decoding step: one query behind seven keys."""
    check(*tensors(rng, 1, 7), window)


@pytest.mark.derive("grad", "device", "contract")
@pytest.mark.parametrize("sizes", [(33, 33, 4), (35, 70, 16), (70, 70, 9)])
def test_longer_sequence(check, rng, sizes):
    """n, m, window: lengths that no block divides."""
    n, m, window = sizes
    check(*tensors(rng, n, m, batch=1, heads=2), window)


def test_all_sizes_equal(check, rng):
    """B == H == n == m == d_k == d_v == window, where a wrong axis does not show in the shape."""
    check(*tensors(rng, 3, 3, d_k=3, d_v=3, batch=3, heads=3), 3)
    check(*tensors(rng, 4, 4, d_k=4, d_v=4, batch=4, heads=4), 2)


def test_sizes_of_one(check, rng):
    """One sequence, one head, one token, one feature."""
    check(*tensors(rng, 1, 1, d_k=1, d_v=1, batch=1, heads=1), 1)
    check(*tensors(rng, 4, 4, d_k=1, d_v=1, batch=1, heads=1), 2)


@pytest.mark.parametrize("widths", [(9, 2), (2, 9), (16, 16)])
def test_widths(check, rng, widths):
    """d_k and d_v: the spread of the scores must not depend on them."""
    check(*tensors(rng, 5, 6, *widths), 3)


def test_transposed_inputs(check, rng):
    """Heads that were split off by a transpose are views, not copies."""
    q, k, v = rng.normal(2, 4, 3, 5), rng.normal(2, 6, 3, 5), rng.normal(2, 6, 3, 2)
    check(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), 3)


def test_one_tensor_three_times(check, rng):
    """Queries, keys and values may be the same tensor."""
    x = rng.normal(2, 3, 6, 4)
    check(x, x, x, 4)


@pytest.mark.derive("dtype", "device", "contract")
def test_sharp_scores(check, rng):
    """Scores of some hundreds: exp alone would overflow."""
    q, k, v = tensors(rng, 6, 6)
    q[..., 0], k[..., 0] = 32.0, 32.0 * rng.permutation(6).double()
    check(q, k, v, 3)


def test_scores_with_a_common_level(check, rng):
    """What all scores of a row have in common does not count, and float64 can tell them apart at any level."""
    q, k, v = tensors(rng, 5, 6)
    q[..., 0] = 2.0
    k[..., 0] = 2.0**14 if check.dtype == torch.float64 else 4.0
    check(q, k, v, 3)
    check(-q, k, v, 3)


@pytest.mark.mask
@pytest.mark.parametrize("sizes", [(6, 3), (4, 2)])
def test_best_matches_lie_outside_the_window(check, rng, sizes):
    """n and window, six keys: the further a key is from its query, the better they match."""
    n, window = sizes
    q, k, v = tensors(rng, n, 6)
    q[..., 0] = torch.linspace(4.0, -4.0, 6, dtype=torch.float64)[6 - n :]
    k[..., 0] = torch.linspace(-30.0, 30.0, 6, dtype=torch.float64)
    check(q, k, v, window)
    check(-q, -k, v, window)
    check(-q, k, v, window)


@pytest.mark.mask
@pytest.mark.derive
def test_later_tokens_leave_no_trace(check, rng):
    """Later keys and values are replaced: not one bit of the earlier results may change."""
    q, k, v = tensors(rng, 8, 8)
    before = check(q, k, v, 3).got
    keys, values = k.clone(), v.clone()
    keys[:, :, 5:], values[:, :, 5:] = rng.normal(2, 3, 3, 4, scale=20.0), rng.normal(2, 3, 3, 3, scale=100.0)
    after = check(q, keys, values, 3).got
    check.same(after[:, :, :5], before[:, :, :5], "a result depends on a later token")


@pytest.mark.mask
@pytest.mark.derive
def test_tokens_behind_the_window_leave_no_trace(check, rng):
    """Keys and values from before the window are replaced: not one bit of the later results may change."""
    q, k, v = tensors(rng, 8, 8)
    before = check(q, k, v, 3).got
    keys, values = k.clone(), v.clone()
    keys[:, :, :3], values[:, :, :3] = rng.normal(2, 3, 3, 4, scale=20.0), rng.normal(2, 3, 3, 3, scale=100.0)
    after = check(q, keys, values, 3).got
    check.same(after[:, :, 5:], before[:, :, 5:], "a result depends on a token from before its window")


@pytest.mark.mask
@pytest.mark.parametrize("sizes", [(6, 6, 3), (2, 6, 3), (4, 6, 9), (3, 3, 2)])
def test_visible_scores_far_below_zero(check, rng, sizes):
    """n, m, window: all scores lie at -12288 and less; what is hidden, or not there at all, must not win."""
    n, m, window = sizes
    check(*low_scores(rng, n, m, -12288.0, -3072.0), window)


@pytest.mark.mask
@pytest.mark.derive
def test_scores_of_zero(check, rng):
    """A key of zeros and a query of zeros: what is visible stays visible."""
    q, k, v = tensors(rng, 5, 6)
    q[:, :, 2], k[:, :, 4] = 0.0, 0.0
    check(q, k, v, 3)


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("level", [-(2.0**40), -(2.0**120)])
def test_no_score_is_too_low(check, rng, level):
    """A finite stand-in for minus infinity is only as good as the lowest score it meets."""
    check(*low_scores(rng, 5, 6, level, level), 3)
    check(*low_scores(rng, 4, 4, level, level), 3)


def cost(check, rng, n, window):
    """Count what n tokens cost with this window."""
    return check.run(*tensors(rng, n, n, d_k=8, d_v=8, batch=1, heads=2), window).cost


@pytest.mark.cost
@pytest.mark.parametrize("tokens", [64, 256])
def test_work_grows_with_the_number_of_tokens(check, rng, tokens):
    """Four times as many tokens take four times the work: no query is compared with all keys."""
    for window in (8, 40):
        small, large = cost(check, rng, tokens, window), cost(check, rng, 4 * tokens, window)
        check.at_most(large.work, 8 * small.work, "four times as many tokens take far more than four times the work")


@pytest.mark.cost
@pytest.mark.parametrize("tokens", [64, 256])
def test_memory_grows_with_the_number_of_tokens(check, rng, tokens):
    """Four times as many tokens take four times the memory: no tensor has a place for each pair of tokens."""
    for window in (8, 40):
        small, large = cost(check, rng, tokens, window), cost(check, rng, 4 * tokens, window)
        check.at_most(
            large.biggest,
            8 * small.biggest,
            "four times as many tokens need a tensor far more than four times as large",
            large.biggest_line,
        )


@pytest.mark.derive
@pytest.mark.parametrize("window", [50, 300])
def test_sizes_that_people_run(check, rng, window):
    """Six hundred tokens, cut out of a longer text, and windows of 50 and of 300."""
    q, k, v = tensors(rng, 601, 601, d_k=2, d_v=2, batch=1, heads=1)
    check(q[:, :, 1:], k[:, :, 1:], v[:, :, 1:], window)


def test_twelve_heads(check, rng):
    """Twelve heads of as many queries as the window is wide, behind a prefix."""
    check(*tensors(rng, 5, 9, batch=1, heads=12), 5)


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores of 16384 that differ by one or two: float32 tells them apart, and weights keep their digits."""
    q, k, v = tensors(rng, 6, 6, d_k=16)
    q[..., 0], q[..., 1:] = 4.0, 0.0
    k[..., 0] = 2.0**14 + rng.integers(0, 3, 2, 3, 6).double()
    check(q, k, v, 4)


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-100 is a weight: its value may be as large."""
    q, k, v = tensors(rng, 6, 6)
    q[..., 0], q[..., 1:], k[..., 0] = 2.0, 0.0, 0.0
    k[:, :, 1, 0], v[:, :, 1] = -230.0, 1e100 * v[:, :, 1]
    check(q, k, v, 4)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    q, k, v = tensors(rng, 4, 4, 70, 70, batch=9, heads=1)
    check(q, k, v, 2)
    check(3e4 * q, k / 3e4, v, 2)
    for window in (1, 2, 3, 64, 300):
        check(*tensors(rng, 1, 300, 2, 2, batch=1, heads=1), window)
    check(*tensors(rng, 2, 1100, 2, 2, batch=1, heads=1), 600)


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = rng.normal(2, 3, 4, 4, scale=scale)
    check(x, x, x, 2)


@pytest.mark.mask
@pytest.mark.derive("device")
@pytest.mark.parametrize("window", [20, 80])
def test_many_scores_far_from_zero(check, rng, window):
    """Windows of 20 and of 80 with scores far above and far below zero: what is visible shares a weight of 1."""
    for height in FAR:
        q, k, v = tensors(rng, 100, 100, d_k=1, batch=1, heads=2)
        check(torch.ones_like(q), far_levels(rng, height, *k.shape), v, window)
