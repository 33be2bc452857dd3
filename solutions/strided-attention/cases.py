"""Hidden cases of strided-attention."""

import pytest
import torch


def tensors(rng, n, d_k=4, d_v=3, batch=2, heads=3):
    """Draw queries, keys and values of (batch, heads, ...)."""
    shape = (batch, heads, n)
    return rng.normal(*shape, d_k), rng.normal(*shape, d_k), rng.normal(*shape, d_v)


def low_scores(rng, n, first, step):
    """Make all scores lie at first, first + step, ... exactly, in random order; d_k = 4."""
    q, k, v = tensors(rng, n)
    q[..., 0], q[..., 1:] = 2.0, 0.0
    k[..., 0] = first + step * rng.normal(2, 3, n).argsort(-1).double()
    return q, k, v


def attend(check, *args, **kwargs):
    """Call the attention, compared."""
    return check["strided_attention"](*args, **kwargs)


def test_by_hand(check):
    """The example of the brief: every query scores 0 or 1 with the keys."""
    check["strided_mask"](5, 2, device=check.device)
    q, k = (torch.tensor([[x]], dtype=torch.float64).mT for x in ([[1, 1, 1, 1, 1]], [[0, 1, 0, 1, 0]]))
    attend(check, q, k, torch.eye(5, dtype=torch.float64)[None, None], 2)


@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("stride", [1, 2, 3, 4, 6, 7, 8, 40])
def test_mask(check, stride):
    """Seven tokens: from a stride of 1 to more than there are tokens."""
    check["strided_mask"](7, stride, device=check.device)


@pytest.mark.derive("device", "contract")
def test_mask_of_many_tokens(check):
    """A stride near the root, one that divides the length, one token, and arguments by name."""
    check["strided_mask"](300, 17, device=check.device)
    check["strided_mask"](n=12, stride=3, device=check.device)
    check["strided_mask"](1, 1, check.device)
    check["strided_mask"](1, 5, check.device)


@pytest.mark.derive("device", "contract")
def test_mask_without_a_device(check):
    """Left at None the device is what torch.empty takes it for: where a caller has set a default device, that one."""
    check["strided_mask"](6, 2, device=None)
    check["strided_mask"](6, 2)
    check["strided_mask"](stride=3, n=6)


def test_three_tokens(check, rng):
    """A stride of two on three tokens: the last one sees all."""
    attend(check, *tensors(rng, 3, d_k=2, d_v=2, batch=1, heads=1), 2)


def test_four_tokens(check, rng):
    """A stride of two on four tokens: the last one does not see the first."""
    attend(check, *tensors(rng, 4, d_k=2, d_v=2, batch=1, heads=1), 2)


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 6, 7, 8, 40])
def test_stride(check, rng, stride):
    """Seven tokens: from a stride of 1 to more than there are tokens."""
    attend(check, *tensors(rng, 7), stride)


def test_stride_by_name(check, rng):
    """The names of the arguments are part of the contract."""
    q, k, v = tensors(rng, 5)
    attend(check, v=v, k=k, q=q, stride=2)


@pytest.mark.derive("grad", "device", "contract")
@pytest.mark.parametrize("sizes", [(36, 6), (35, 4), (70, 16), (70, 9), (64, 3), (50, 30)])
def test_longer_sequence(check, rng, sizes):
    """n and stride: more than one key of each column, whole rows and a rest."""
    n, stride = sizes
    attend(check, *tensors(rng, n, batch=1, heads=2), stride)


def test_all_sizes_equal(check, rng):
    """B == H == n == d_k == d_v == stride, where a wrong axis does not show in the shape."""
    attend(check, *tensors(rng, 3, d_k=3, d_v=3, batch=3, heads=3), 3)
    attend(check, *tensors(rng, 4, d_k=4, d_v=4, batch=4, heads=4), 2)
    attend(check, *tensors(rng, 9, d_k=3, d_v=3, batch=3, heads=3), 3)


def test_sizes_of_one(check, rng):
    """One sequence, one head, one token, one feature."""
    attend(check, *tensors(rng, 1, d_k=1, d_v=1, batch=1, heads=1), 1)
    attend(check, *tensors(rng, 6, d_k=1, d_v=1, batch=1, heads=1), 2)


@pytest.mark.parametrize("widths", [(9, 2), (2, 9), (16, 16)])
def test_widths(check, rng, widths):
    """d_k and d_v: the spread of the scores must not depend on them."""
    attend(check, *tensors(rng, 6, *widths), 2)


def test_transposed_inputs(check, rng):
    """Heads that were split off by a transpose are views, not copies."""
    q, k, v = rng.normal(2, 7, 3, 5), rng.normal(2, 7, 3, 5), rng.normal(2, 7, 3, 2)
    attend(check, q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), 3)


def test_one_tensor_three_times(check, rng):
    """Queries, keys and values may be the same tensor."""
    x = rng.normal(2, 3, 7, 4)
    attend(check, x, x, x, 3)


@pytest.mark.derive("dtype", "device", "contract")
def test_sharp_scores(check, rng):
    """Scores of some hundreds: exp alone would overflow."""
    q, k, v = tensors(rng, 7)
    q[..., 0], k[..., 0] = 32.0, 32.0 * rng.permutation(7).double()
    attend(check, q, k, v, 3)


@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("level", [60.0, -60.0])
def test_near_and_far_keys_share_one_weight(check, rng, level):
    """The far keys match better than the near ones by sixty, or worse: both compete in one softmax."""
    q, k, v = tensors(rng, 8)
    q[..., 0], k[..., 0], k[..., 4:, 0] = 2.0, level, 0.0
    attend(check, q, k, v, 2)


def test_scores_with_a_common_level(check, rng):
    """What all scores of a row have in common does not count, and float64 can tell them apart at any level."""
    q, k, v = tensors(rng, 6)
    q[..., 0] = 2.0
    k[..., 0] = 2.0**14 if check.dtype == torch.float64 else 4.0
    attend(check, q, k, v, 2)
    attend(check, -q, k, v, 2)


@pytest.mark.mask
@pytest.mark.derive("grad", "device", "contract")
@pytest.mark.parametrize("sizes", [(7, 3), (8, 2), (6, 4)])
def test_best_matches_are_hidden(check, rng, sizes):
    """n and stride: the keys that are hidden from the last query match best, or worst."""
    n, stride = sizes
    q, k, v = tensors(rng, n)
    behind = n - 1 - torch.arange(n)
    hidden = (behind >= stride) & (behind % stride != 0)
    q[..., 0], k[..., 0] = 4.0, torch.where(hidden, 30.0, -30.0).double()
    attend(check, q, k, v, stride)
    attend(check, -q, -k, v, stride)
    attend(check, -q, k, v, stride)


@pytest.mark.mask
@pytest.mark.parametrize("stride", [2, 3, 9])
def test_best_matches_lie_in_the_future(check, rng, stride):
    """The later a key, the better it matches."""
    q, k, v = tensors(rng, 8)
    q[..., 0], k[..., 0] = 4.0, torch.linspace(-30.0, 30.0, 8, dtype=torch.float64)
    attend(check, q, k, v, stride)


@pytest.mark.mask
@pytest.mark.derive
@pytest.mark.parametrize("stride", [2, 3])
def test_later_tokens_leave_no_trace(check, rng, stride):
    """Later keys and values are replaced: not one bit of the earlier results may change."""
    q, k, v = tensors(rng, 8)
    before = attend(check, q, k, v, stride).got
    keys, values = k.clone(), v.clone()
    keys[:, :, 5:], values[:, :, 5:] = rng.normal(2, 3, 3, 4, scale=20.0), rng.normal(2, 3, 3, 3, scale=100.0)
    after = attend(check, q, keys, values, stride).got
    check.same(after[:, :, :5], before[:, :, :5], "a result depends on a later token")


@pytest.mark.mask
@pytest.mark.derive
@pytest.mark.parametrize("sizes", [(8, 3), (9, 2), (7, 5)])
def test_skipped_tokens_leave_no_trace(check, rng, sizes):
    """Keys and values that the last query skips are replaced: not one bit of its result may change."""
    n, stride = sizes
    q, k, v = tensors(rng, n)
    before = attend(check, q, k, v, stride).got
    keys, values = k.clone(), v.clone()
    skipped = [j for j in range(n - stride) if (n - 1 - j) % stride]
    keys[:, :, skipped] = rng.normal(2, 3, len(skipped), 4, scale=20.0)
    values[:, :, skipped] = rng.normal(2, 3, len(skipped), 3, scale=100.0)
    after = attend(check, q, keys, values, stride).got
    check.same(after[:, :, -1], before[:, :, -1], "a result depends on a token that its query skips")


@pytest.mark.mask
@pytest.mark.parametrize("sizes", [(6, 2), (5, 3), (4, 9), (3, 2)])
def test_visible_scores_far_below_zero(check, rng, sizes):
    """n and stride: all scores lie at -12288 and less; what is hidden, or not there at all, must not win."""
    n, stride = sizes
    attend(check, *low_scores(rng, n, -12288.0, -3072.0), stride)


@pytest.mark.mask
@pytest.mark.derive
def test_scores_of_zero(check, rng):
    """A key of zeros and a query of zeros: what is visible stays visible."""
    q, k, v = tensors(rng, 7)
    q[:, :, 2], k[:, :, 4] = 0.0, 0.0
    attend(check, q, k, v, 2)


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("level", [-(2.0**40), -(2.0**83)])
def test_no_score_is_too_low(check, rng, level):
    """A finite stand-in for minus infinity is only as good as the lowest score it meets."""
    attend(check, *low_scores(rng, 6, level, level), 3)
    attend(check, *low_scores(rng, 5, level, level), 2)
    for n, stride in ((80, 12), (150, 70), (600, 24)):
        attend(check, *low_scores(rng, n, level, level), stride)


def cost(check, rng, n, stride):
    """Count what n tokens cost."""
    return check["strided_attention"].run(*tensors(rng, n, d_k=8, d_v=8, batch=1, heads=2), stride).cost


@pytest.mark.cost
@pytest.mark.parametrize("stride", [6, 12])
def test_work_grows_with_near_and_far_keys(check, rng, stride):
    """Nine times as many tokens and three times the stride: each token sees three times as many keys, not nine."""
    small, large = cost(check, rng, stride**2, stride), cost(check, rng, 9 * stride**2, 3 * stride)
    check.at_most(large.work, 42 * small.work, "nine times as many tokens take far more than 27 times the work")


@pytest.mark.cost
@pytest.mark.parametrize("stride", [6, 12])
def test_memory_grows_with_near_and_far_keys(check, rng, stride):
    """The same for memory: no tensor has a place for each pair of tokens."""
    small, large = cost(check, rng, stride**2, stride), cost(check, rng, 9 * stride**2, 3 * stride)
    check.at_most(
        large.biggest,
        42 * small.biggest,
        "nine times as many tokens need a tensor far more than 27 times as large",
        large.biggest_line,
    )


@pytest.mark.cost
def test_work_and_memory_where_rows_are_long(check, rng):
    """Four times as many tokens and twice the stride, which is far above the root: eight times as many keys, not 16."""
    small, large = cost(check, rng, 144, 48), cost(check, rng, 576, 96)
    check.at_most(large.work, 11 * small.work, "four times as many tokens take far more than eight times the work")
    check.at_most(
        large.biggest,
        11 * small.biggest,
        "four times as many tokens need a tensor far more than eight times as large",
        large.biggest_line,
    )


@pytest.mark.derive
@pytest.mark.parametrize("stride", [24, 300, 7, 2])
def test_sizes_that_people_run(check, rng, stride):
    """Six hundred tokens, cut out of a longer text."""
    q, k, v = tensors(rng, 601, d_k=2, d_v=2, batch=1, heads=1)
    attend(check, q[:, :, 1:], k[:, :, 1:], v[:, :, 1:], stride)


@pytest.mark.derive("dtype")
def test_positions_beyond_256(check, rng):
    """Three hundred tokens: half precision cannot count them."""
    attend(check, *tensors(rng, 300, d_k=2, d_v=2, batch=1, heads=1), 17)


@pytest.mark.derive
def test_stride_of_a_billion(check, rng):
    """A stride far beyond the tokens is plain causal attention, and costs no more than that."""
    attend(check, *tensors(rng, 5), 10**9)


def test_twelve_heads(check, rng):
    """Twelve heads of nine tokens in rows of three."""
    attend(check, *tensors(rng, 9, batch=1, heads=12), 3)


@pytest.mark.derive("device", "contract")
def test_near_ties_at_large_scores(check, rng):
    """Scores of 16384 that differ by one or two: float32 tells them apart, and weights keep their digits."""
    q, k, v = tensors(rng, 7)
    q[..., 0], q[..., 1:] = 2.0, 0.0
    k[..., 0] = 2.0**14 + rng.integers(0, 3, 2, 3, 7).double()
    attend(check, q, k, v, 3)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    q, k, v = tensors(rng, 5, 70, 70, batch=9, heads=1)
    attend(check, q, k, v, 2)
    attend(check, 3e4 * q, k / 3e4, v, 2)
    for n, stride in ((2, 1), (1, 3), (19, 9), (33, 16)):
        attend(check, *tensors(rng, n, 2, 2, batch=1, heads=1), stride)
    check["strided_mask"](800, 7)


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = rng.normal(2, 3, 4, 4, scale=scale)
    attend(check, x, x, x, 2)
