"""Hidden cases of linear-attention."""

import pytest
import torch

both = pytest.mark.parametrize("causal", [False, True])


def tensors(rng, n, m, d_k=4, d_v=3, batch=2, heads=3):
    """Draw queries, keys and values of (batch, heads, ...)."""
    shape = (batch, heads)
    return rng.normal(*shape, n, d_k), rng.normal(*shape, m, d_k), rng.normal(*shape, m, d_v)


def test_by_hand(check):
    """The example of the brief: weights of whole numbers."""
    q = torch.tensor([[[[0.0, 1.0], [2.0, 0.0]]]], dtype=torch.float64)
    k = torch.tensor([[[[1.0, 0.0], [0.0, 3.0]]]], dtype=torch.float64)
    v = torch.tensor([[[[26.0], [0.0]]]], dtype=torch.float64)
    check(q, k, v)
    check(q, k, v, causal=True)
    check(q, k, v, causal=True, eps=1.0)


def test_two_queries_three_keys(check, rng):
    """The smallest call in which all sizes differ."""
    check(*tensors(rng, 2, 3, d_k=4, d_v=1))


@pytest.mark.parametrize("sizes", [(6, 6), (2, 7), (7, 2), (1, 5), (5, 1)])
def test_all_keys(check, rng, sizes):
    """n and m: each query sees every key; there may be more queries than keys."""
    check(*tensors(rng, *sizes))


@both
@pytest.mark.parametrize("widths", [(9, 2), (2, 9), (16, 4)])
def test_widths(check, rng, widths, causal):
    """d_k and d_v: no width enters but through the sums."""
    check(*tensors(rng, 5, 5, *widths), causal=causal)


@both
def test_all_sizes_equal(check, rng, causal):
    """B == H == n == m == d_k == d_v, where a wrong axis does not show in the shape."""
    check(*tensors(rng, 3, 3, d_k=3, d_v=3, batch=3, heads=3), causal=causal)


@both
@pytest.mark.derive("grad", "device", "contract")
def test_sizes_of_one(check, rng, causal):
    """One sequence, one head, one token, one feature."""
    check(*tensors(rng, 1, 1, d_k=1, d_v=1, batch=1, heads=1), causal)
    check(*tensors(rng, 4, 4, d_k=1, d_v=1, batch=1, heads=1), causal)


@both
@pytest.mark.parametrize("eps", [0.5, 3.0])
def test_eps(check, rng, causal, eps):
    """A large eps shows where it is added, and how often; with fewer queries than keys, too."""
    q, k, v = tensors(rng, 4, 4)
    check(q, k, v, causal, eps)
    check(q=q, k=k, v=v, eps=eps, causal=causal)
    for n in (1, 3):
        check(*tensors(rng, n, 5), causal, eps)


@both
@pytest.mark.derive("grad", "device", "contract")
def test_default_eps(check, rng, causal):
    """Small weights show the eps that nobody has named."""
    q, k, v = tensors(rng, 3, 3, d_k=1, d_v=2)
    check(0.3 * q - 3, 0.3 * k - 3, v, causal=causal)


@both
def test_weights_that_vanish(check, rng, causal):
    """Features of exactly 0 give a result of 0, never a NaN, and leave the other rows alone."""
    q, k, v = tensors(rng, 4, 4)
    no_queries, no_keys = q.clone(), k.clone()
    no_queries[:, :, 1], no_keys[:, 1] = -300.0, -300.0
    check(no_queries, k, v, causal=causal)
    check(q, no_keys, v, causal=causal)


@both
def test_transposed_inputs(check, rng, causal):
    """Heads that were split off by a transpose are views, not copies."""
    q, k, v = rng.normal(2, 5, 3, 4), rng.normal(2, 5, 3, 4), rng.normal(2, 5, 3, 2)
    check(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), causal=causal)


@both
def test_one_tensor_three_times(check, rng, causal):
    """Queries, keys and values may be the same tensor."""
    x = rng.normal(2, 3, 5, 4)
    check(x, x, x, causal)


@both
@pytest.mark.derive("dtype")
def test_digits_of_double_precision(check, rng, causal):
    """In float64 features of 1e-5 still have digits, and three hundred keys have: they must not get lost on the way."""
    q, k, v = tensors(rng, 4, 4)
    height = 10.0 if check.dtype == torch.float64 else 0.0
    check(q - height, k - height, v, causal=causal)
    if check.dtype == torch.float64:
        check(*tensors(rng, 5, 300, batch=1), causal=causal)


@pytest.mark.mask
@pytest.mark.parametrize("length", [2, 5, 8])
def test_causal(check, rng, length):
    """As many queries as keys: each sees itself and what came before."""
    check(*tensors(rng, length, length), causal=True)


@pytest.mark.mask
@pytest.mark.parametrize("sizes", [(3, 7), (1, 6), (6, 7), (2, 4)])
def test_causal_with_fewer_queries_than_keys(check, rng, sizes):
    """n and m: the queries are the last n of m positions."""
    check(*tensors(rng, *sizes), causal=True)


@pytest.mark.mask
@pytest.mark.derive("grad")
def test_causal_over_a_longer_sequence(check, rng):
    """Seventy tokens: whatever is carried along is carried to the end, over lengths that no block divides."""
    check(*tensors(rng, 70, 70, batch=1, heads=2), causal=True)
    check(*tensors(rng, 33, 67, batch=1, heads=2), causal=True)


@pytest.mark.mask
@pytest.mark.derive
def test_causal_over_hundreds_of_tokens(check, rng):
    """Six hundred tokens: the last one has not forgotten the first, in pieces of whatever length."""
    check(*tensors(rng, 600, 600, d_k=2, d_v=2, batch=1, heads=1), causal=True)


@pytest.mark.mask
@pytest.mark.derive("device")
def test_later_tokens_leave_no_trace(check, rng):
    """Later keys and values are replaced, by huge ones too: the earlier results stay as they are, to the last bit."""
    q, k, v = tensors(rng, 8, 8)
    before = check(q, k, v, causal=True).got
    for scale in (4.0, 1e6):
        keys, values = k.clone(), v.clone()
        keys[:, :, 5:], values[:, :, 5:] = rng.normal(2, 3, 3, 4, scale=scale), rng.normal(2, 3, 3, 3, scale=scale)
        after = check(q, keys, values, causal=True).got
        check.same(after[:, :, :5], before[:, :, :5], "a result depends on a later token")


@pytest.mark.mask
@pytest.mark.derive("device")
def test_last_token_sees_everything(check, rng):
    """The last query's causal result is its result without the mask."""
    q, k, v = tensors(rng, 6, 6)
    causal, free = check(q, k, v, causal=True).got, check(q, k, v).got
    check.close(causal[:, :, -1], free[:, :, -1], "the last query does not see all keys, or sees them otherwise")


def cost(check, rng, n, causal):
    """Count what n tokens cost."""
    return check.run(*tensors(rng, n, n, d_k=8, d_v=8, batch=1, heads=2), causal=causal).cost


@pytest.mark.cost
@both
@pytest.mark.parametrize("tokens", [64, 256])
def test_work_grows_with_the_number_of_tokens(check, rng, causal, tokens):
    """Four times as many tokens take four times the work, not sixteen times."""
    small, large = cost(check, rng, tokens, causal), cost(check, rng, 4 * tokens, causal)
    check.at_most(large.work, 8 * small.work, "four times as many tokens take far more than four times the work")


@pytest.mark.cost
@both
@pytest.mark.parametrize("tokens", [64, 256])
def test_memory_grows_with_the_number_of_tokens(check, rng, causal, tokens):
    """Four times as many tokens take four times the memory: no tensor has a place for each pair of tokens."""
    small, large = cost(check, rng, tokens, causal), cost(check, rng, 4 * tokens, causal)
    states = 2 * 4 * tokens * 8 * 8  # are fine, where fewer tokens went through a loop as well
    check.at_most(
        large.biggest,
        max(8 * small.biggest, 2 * states),
        "four times as many tokens need a tensor far more than four times as large",
        large.biggest_line,
    )


@pytest.mark.derive
def test_sizes_that_people_run(check, rng):
    """Six hundred keys, cut out of a longer text: for all queries, and for the last 40; twelve heads of 96 features."""
    q, k, v = tensors(rng, 41, 601, d_k=3, d_v=2, batch=1, heads=2)
    for causal in (False, True):
        check(q[:, :, 1:], k[:, :, 1:], v[:, :, 1:], causal)
        check(*tensors(rng, 6, 6, d_k=96, d_v=2, batch=1, heads=12), causal)


@both
@pytest.mark.derive("grad")
def test_eps_of_zero_and_of_seven(check, rng, causal):
    """An eps of 0 is none at all, and a large one counts as it is; small weights show it."""
    q, k, v = tensors(rng, 3, 3, d_k=1, d_v=2)
    check(0.3 * q - 4, 0.3 * k - 4, v, causal, 0.0)
    check(q, k, v, causal, 7.0)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    q, k, v = tensors(rng, 4, 4, 4, 70, batch=9, heads=1)
    for causal in (False, True):
        check(q, k, v, causal)
        check(3e4 * q, k, v, causal)


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = rng.normal(2, 3, 4, 4, scale=scale)
    for causal in (False, True):
        check(x, x, x, causal)
