"""Hidden cases of flash-attention."""

import pytest
import torch

from grader.kit.inference import inference_mode

# What is carried along is rounded with each block, so the `dtype` variants are those of few blocks and small scores.
without_dtype = pytest.mark.derive("grad", "device", "contract")


def tensors(rng, n, m, d_k=4, d_v=3, batch=2, heads=3):
    """Draw queries, keys and values of (batch, heads, ...)."""
    shape = (batch, heads)
    return rng.normal(*shape, n, d_k), rng.normal(*shape, m, d_k), rng.normal(*shape, m, d_v)


def leveled(rng, n, m, levels):
    """Make key j score levels[..., j] exactly, for every query; d_k = 4."""
    q, k, v = tensors(rng, n, m)
    q[..., 0], q[..., 1:] = 2.0, 0.0
    k[..., 0] = levels
    return q, k, v


@without_dtype
def test_by_hand(check):
    """The example of the brief: three keys in one block, in two and in three."""
    q, k = (torch.tensor([[x]], dtype=torch.float64).mT for x in ([[1, 1]], [[0, 1, 2]]))
    v = torch.eye(3, dtype=torch.float64)[None, None]
    for causal in (False, True):
        for block_size in (64, 1, 2):
            check(q, k, v, block_size=block_size, causal=causal)


def test_one_block(check, rng):
    """Fewer keys than the default block holds: ordinary attention."""
    check(*tensors(rng, 2, 3, d_k=4, d_v=1))


def test_two_blocks(check, rng):
    """The smallest call in which something has to be put together."""
    check(*tensors(rng, 2, 4, d_k=4, d_v=1), 2)


@without_dtype
@pytest.mark.parametrize("block_size", [1, 2, 3, 6, 7, 50])
def test_block_size(check, rng, block_size):
    """Seven keys in blocks of one, in blocks that leave a rest, in one block and in one that is not filled."""
    check(*tensors(rng, 5, 7), block_size)


@without_dtype
def test_arguments_by_name(check, rng):
    """The names of the arguments are part of the contract."""
    q, k, v = tensors(rng, 5, 5)
    check(v=v, k=k, q=q, causal=True, block_size=2)


@without_dtype
@pytest.mark.parametrize("sizes", [(7, 3, 2), (1, 6, 4), (6, 1, 4), (3, 9, 4)])
def test_queries_and_keys_of_different_number(check, rng, sizes):
    """n, m and block size; there may be more queries than keys."""
    n, m, block_size = sizes
    check(*tensors(rng, n, m), block_size)


def test_all_sizes_equal(check, rng):
    """B == H == n == m == d_k == d_v == block size, where a wrong axis does not show in the shape."""
    check(*tensors(rng, 3, 3, d_k=3, d_v=3, batch=3, heads=3), 3)
    check(*tensors(rng, 4, 4, d_k=4, d_v=4, batch=4, heads=4), 2)
    check(*tensors(rng, 4, 4, d_k=4, d_v=4, batch=4, heads=4), 2, causal=True)


def test_sizes_of_one(check, rng):
    """One sequence, one head, one token, one feature."""
    check(*tensors(rng, 1, 1, d_k=1, d_v=1, batch=1, heads=1), 1)


@without_dtype
@pytest.mark.parametrize("widths", [(9, 2), (2, 9), (16, 16)])
def test_widths(check, rng, widths):
    """d_k and d_v: the spread of the scores must not depend on them."""
    check(*tensors(rng, 5, 6, *widths), 4)


@without_dtype
def test_transposed_inputs(check, rng):
    """Heads that were split off by a transpose are views, not copies."""
    q, k, v = rng.normal(2, 4, 3, 5), rng.normal(2, 6, 3, 5), rng.normal(2, 6, 3, 2)
    check(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), 4)


@without_dtype
@pytest.mark.parametrize("causal", [False, True])
def test_default_block_size(check, rng, causal):
    """More keys than the default block holds."""
    check(*tensors(rng, 70, 70, batch=1, heads=2), causal=causal)


@without_dtype
@pytest.mark.parametrize("block_size", [1, 2, 4])
def test_scores_that_rise(check, rng, block_size):
    """Every block brings a larger score than those before it: what was summed so far shrinks."""
    check(*leveled(rng, 3, 7, torch.arange(7.0, dtype=torch.float64) - 3), block_size)


@without_dtype
@pytest.mark.parametrize("block_size", [1, 2, 4])
def test_scores_that_fall(check, rng, block_size):
    """The largest score stands in the first block: what comes later counts relative to it."""
    check(*leveled(rng, 3, 7, 3 - torch.arange(7.0, dtype=torch.float64)), block_size)


@pytest.mark.derive
@pytest.mark.parametrize("block_size", [1, 2, 3])
def test_one_loud_key(check, rng, block_size):
    """One key scores far above all others, each in its turn: what was summed before it hardly counts any more."""
    for loud in range(7):
        levels = torch.zeros(7, dtype=torch.float64)
        levels[loud] = 8.0
        check(*leveled(rng, 2, 7, levels), block_size)


@without_dtype
@pytest.mark.parametrize("step", [100.0, -100.0, 3000.0, -3000.0])
def test_scores_far_apart(check, rng, step):
    """Scores that rise or fall by hundreds and thousands from key to key: exp alone would overflow."""
    check(*leveled(rng, 3, 7, step * torch.arange(-3.0, 4.0, dtype=torch.float64)), 2)


@without_dtype
def test_queries_far_apart(check, rng):
    """Every other query scores 60 with all keys, the rest -60: each has a maximum of its own."""
    q, k, v = leveled(rng, 4, 6, 60.0)
    check(q * torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float64)[:, None], k, v, 4)


def test_scores_with_a_common_level(check, rng):
    """What all scores of a row have in common does not count, and float64 can tell them apart at any level."""
    q, k, v = tensors(rng, 5, 6)
    q[..., 0] = 2.0
    k[..., 0] = 2.0**14 if check.dtype == torch.float64 else 1.0
    check(0.5 * q, k, v, 4)
    check(-0.5 * q, k, v, 4)


@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("level", [-(2.0**40), -(2.0**120)])
def test_no_score_is_too_low(check, rng, level):
    """A maximum has to begin below every score there can be, of a few keys and of hundreds."""
    for keys, block_size, unit in ((6, 2, level), (80, 32, level / 128), (600, 64, level / 128)):
        check(*leveled(rng, 4, keys, unit * (1 + rng.permutation(keys).double())), block_size)


@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("block_size", [1, 2])
def test_scores_that_rise_beside_loud_values(check, rng, block_size):
    """A sum that is put right late, once scores have risen by 20 or 80, has values in it that are too large by then."""
    q, k, v = leveled(rng, 3, 7, torch.tensor([0.0, 20.0, 40.0, 60.0, 80.0, 79.0, 5.0], dtype=torch.float64))
    check(q, k, v * 2.0**100, block_size)


@pytest.mark.derive("dtype")
def test_two_blocks_of_many_keys(check, rng):
    """The keys of a second block of 64 score 8, those of the first 0: no sum is too large for half precision."""
    q, k, v = leveled(rng, 3, 128, 8.0 * (torch.arange(128) // 64).double())
    check(q, k, v + 2.0)


@pytest.mark.mask
@without_dtype
@pytest.mark.parametrize("block_size", [1, 2, 3, 7, 9])
def test_causal(check, rng, block_size):
    """As many queries as keys: blocks that a query sees in full, in part and not at all."""
    check(*tensors(rng, 7, 7), block_size, True)


@pytest.mark.mask
@pytest.mark.parametrize("block_size", [2, 4])
def test_causal_and_small_scores(check, rng, block_size):
    """Four tokens in two blocks or in one, with scores that are small in every dtype."""
    q, k, v = tensors(rng, 4, 4, d_v=5)
    check(0.5 * q, k, v, block_size, True)


@pytest.mark.mask
@without_dtype
@pytest.mark.parametrize("sizes", [(3, 8, 2), (3, 8, 4), (1, 6, 4), (4, 6, 3), (5, 6, 16)])
def test_causal_with_fewer_queries_than_keys(check, rng, sizes):
    """n, m and block size: the queries are the last n of m positions."""
    n, m, block_size = sizes
    check(*tensors(rng, n, m), block_size, causal=True)


@pytest.mark.mask
@without_dtype
@pytest.mark.parametrize("step", [3000.0, -3000.0])
def test_causal_and_scores_far_apart(check, rng, step):
    """The best matches lie in the future, or long ago."""
    check(*leveled(rng, 7, 7, step * torch.arange(-3.0, 4.0, dtype=torch.float64)), 2, True)


@pytest.mark.mask
@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("level", [-12288.0, -(2.0**40), -(2.0**120)])
def test_causal_and_scores_far_below_zero(check, rng, level):
    """All scores lie far below zero; what is hidden must not win."""
    check(*leveled(rng, 6, 6, level * (1 + rng.permutation(6).double() / 8)), 2, causal=True)


@pytest.mark.mask
@pytest.mark.derive("dtype")
def test_scores_below_minus_ten_thousand(check, rng):
    """All scores lie at -12288 and less, which float16 has: -10,000 in the place of the future would be more."""
    check(*leveled(rng, 6, 6, -12288.0 * (1 + rng.permutation(6).double() / 8)), 2, causal=True)


@pytest.mark.mask
@pytest.mark.derive
@pytest.mark.parametrize("block_size", [2, 8])
def test_later_tokens_leave_no_trace(check, rng, block_size):
    """Later keys and values are replaced: not one bit of the earlier results may change."""
    q, k, v = tensors(rng, 8, 8)
    before = check(q, k, v, block_size, True).got
    keys, values = k.clone(), v.clone()
    keys[:, :, 5:], values[:, :, 5:] = rng.normal(2, 3, 3, 4, scale=20.0), rng.normal(2, 3, 3, 3, scale=100.0)
    after = check(q, keys, values, block_size, True).got
    check.same(after[:, :, :5], before[:, :, :5], "a result depends on a later token")


def cost(check, rng, n, causal):
    """Count what n tokens cost in blocks of sixteen."""
    return check.run(*tensors(rng, n, n, d_k=8, d_v=8, batch=1, heads=2), block_size=16, causal=causal).cost


@pytest.mark.cost
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tokens", [32, 128])
def test_no_tensor_for_all_pairs(check, rng, causal, tokens):
    """Four times as many tokens need tensors four times as large: none has a place for each pair of tokens."""
    small, large = cost(check, rng, tokens, causal), cost(check, rng, 4 * tokens, causal)
    check.at_most(
        large.biggest,
        8 * small.biggest,
        "four times as many tokens need a tensor far more than four times as large",
        large.biggest_line,
    )


@pytest.mark.cost
def test_no_blocks_are_kept(check, rng):
    """Four times as many tokens take four times the memory: what a block has brought is let go."""
    small, large = cost(check, rng, 128, causal=False), cost(check, rng, 512, causal=False)
    check.at_most(
        large.peak, 8 * small.peak, "four times as many tokens hold far more than four times as much memory at a time"
    )


@pytest.mark.derive
@pytest.mark.parametrize("causal", [False, True])
def test_sizes_that_people_run(check, rng, causal):
    """Six hundred tokens, cut out of a longer text, in blocks of 64 and of 16; twelve heads."""
    q, k, v = tensors(rng, 601, 601, d_k=2, d_v=2, batch=1, heads=1)
    for block_size in (64, 16):
        check(q[:, :, 1:], k[:, :, 1:], v[:, :, 1:], block_size, causal)
    check(*tensors(rng, 5, 7, batch=1, heads=12), 4, causal)


@pytest.mark.mask
@without_dtype
def test_prefix_as_long_as_the_chunk(check, rng):
    """Twice as many keys as queries: the prefix is not the future."""
    check(*tensors(rng, 4, 8), 3, True)


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-100 is a weight: its value may be as large."""
    q, k, v = tensors(rng, 3, 6)
    q[..., 0], q[..., 1:], k[..., 0] = 2.0, 0.0, 0.0
    k[:, :, 1, 0], v[:, :, 1] = -230.0, 1e100 * v[:, :, 1]
    check(q, k, v, block_size=2)
    for faint in (slice(0, 2), slice(2, 4)):  # whole blocks of them, in front of the others and behind some
        q, k, v = tensors(rng, 3, 6)
        q[..., 0], q[..., 1:], k[..., 0] = 2.0, 0.0, 0.0
        k[:, :, faint, 0], v[:, :, faint] = -25.0, 1e11 * v[:, :, faint]
        check(q, k, v, block_size=2)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    q, k, v = tensors(rng, 4, 6, 70, 70, batch=9, heads=1)
    check(q, k, v, 2)
    check(3e4 * q, k / 3e4, v, 2)
    check(*tensors(rng, 3, 150, batch=1, heads=1), 100)
    for queries, block_size in ((1, 1), (2, 64)):
        check(*tensors(rng, queries, 300, 2, 2, batch=1, heads=1), block_size, causal=queries == 1)
    check(*tensors(rng, 2, 1100, 2, 2, batch=1, heads=1), 512)
    x = rng.normal(2, 3, 5, 4)
    check(x, x, x, 2)


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = rng.normal(2, 3, 4, 4, scale=scale)
    check(x, x, x, 2)
    check(x, x, x, 2, True)


@pytest.mark.mask
@pytest.mark.precise
@pytest.mark.derive("grad")
def test_sizes_under_a_mask(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: what is hidden stays hidden."""
    q, k, v = tensors(rng, 4, 6, 70, 70, batch=9, heads=1)
    check(q, k, v, 2, causal=True)
    check(3e4 * q, k / 3e4, v, 2, causal=True)
    check(*tensors(rng, 3, 150, d_v=1, batch=1, heads=1), 100, causal=True)
    check(*tensors(rng, 4, 4, d_v=4, batch=4, heads=4), 3, causal=True)
    check(*tensors(rng, 2, 3, batch=2, heads=3), 3, causal=True)
    check(*leveled(rng, 3, 5, 2048.0 + rng.integers(0, 3, 5).double()), 2, causal=True)
    with inference_mode(check):
        check(*tensors(rng, 4, 6), 4, causal=True)
