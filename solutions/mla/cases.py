"""Hidden cases of mla."""

import pytest
import torch

from grader.kit.digits import keeps_digits

# Gradients through a cache that was handed in are not graded: cases that hand one on have no `grad` variant.
without_grad = pytest.mark.derive("dtype", "device", "contract")
# Behind a cache of the answer's own, half precision has rounded more than once: a small output may lie too far off.
chained = pytest.mark.derive("device", "contract")


def feed(mla, x, sizes):
    """Feed `x` in chunks of these sizes, each with the cache of the one before; the results of all calls."""
    results, cache, start = [], None, 0
    for size in sizes:
        result = mla(x[:, start : start + size], cache)
        cache, start = result[1], start + size
        results.append(result)
    return results


def pair(rng, batch, length, d_latent, d_rope):
    """Draw a cache."""
    return rng.normal(batch, length, d_latent), rng.normal(batch, length, d_rope)


@without_grad
def test_by_hand(check):
    """The example of the task: two tokens, then a third behind their cache."""
    mla = check.module(d_model=2, n_heads=1, d_latent=1, d_rope=2)
    unit, one = torch.eye(2), torch.ones(1, 1)
    mla.set(W_q__weight=torch.cat([unit, 0 * unit]), W_kr__weight=unit, W_o__weight=unit)
    mla.set(W_dkv__weight=torch.tensor([[1.0, 2.0]]))
    mla.set(W_uk__weight=torch.cat([0 * one, one]), W_uv__weight=torch.cat([one, one]))
    _, cache = mla(torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]))
    mla(torch.tensor([[[1.0, 1.0]]]), cache)


def test_first_token(check, rng):
    """One token without a past: it sees itself, at position 0."""
    mla = check.module(6, 2, 4, 2)
    mla(rng.normal(2, 1, 6))


@pytest.mark.parametrize("sizes", [(8, 2, 3, 2), (12, 3, 5, 4), (6, 1, 9, 6), (8, 4, 16, 2), (10, 5, 1, 8)], ids=str)
def test_several_tokens(check, rng, sizes):
    """Causal attention without a cache: latents narrower and wider than the heads, one head and many."""
    mla = check.module(*sizes)
    mla(rng.normal(2, 5, sizes[0]))


def test_sizes_that_agree(check, rng):
    """B == H == n == d_head == d_latent == d_rope, where a wrong axis does not show in the shape."""
    mla = check.module(16, 4, 4, 4)
    mla(rng.normal(4, 4, 16))


@chained
def test_tokens_in_chunks(check, rng):
    """Each chunk goes on where the last one stopped; tokens that come together do not see each other's future."""
    mla = check.module(8, 2, 5, 4)
    for sizes in ([1, 1, 1, 1, 1], [2, 3], [4, 1], [1, 3, 1]):
        feed(mla, rng.normal(2, 5, 8), sizes)


@chained
def test_chunks_when_all_sizes_are_equal(check, rng):
    """B == H == n == T - n == d_head == d_latent."""
    feed(check.module(4, 2, 2, 2), rng.normal(2, 4, 4), [2, 2])


@chained
def test_any_split_gives_the_full_pass(check, rng):
    """However tokens are cut into chunks, outputs and cache are those of a single call."""
    mla = check.module(12, 3, 5, 4)
    x = rng.normal(2, 6, 12)
    whole = mla(x)
    for sizes in ([1] * 6, [3, 3], [5, 1]):
        parts = feed(mla, x, sizes)
        outputs = torch.cat([part[0].got for part in parts], dim=1)
        check.close(outputs, whole[0], f"chunks of {sizes} give other outputs than one call")
        check.close(parts[-1][1][0], whole[1][0], f"chunks of {sizes} leave other latents than one call")
        check.close(parts[-1][1][1], whole[1][1], f"chunks of {sizes} leave other rotary keys than one call")


@without_grad
def test_any_pair_is_a_cache(check, rng):
    """Latents and keys that no call of this module has made."""
    mla = check.module(8, 2, 5, 4)
    mla(rng.normal(3, 2, 8), pair(rng, 3, 4, 5, 4))
    mla(rng.normal(1, 1, 8), cache=pair(rng, 1, 7, 5, 4))


def test_empty_cache(check, rng):
    """A cache of length 0 is no cache."""
    mla = check.module(8, 2, 5, 4)
    mla(rng.normal(2, 3, 8), pair(rng, 2, 0, 5, 4))


@chained
def test_two_continuations_of_one_prefix(check, rng):
    """Two beams grow from the same prefix in turns."""
    mla = check.module(8, 2, 5, 4)
    _, prefix = mla(rng.normal(2, 3, 8))
    _, left = mla(rng.normal(2, 1, 8), prefix)
    _, right = mla(rng.normal(2, 2, 8), prefix)
    _, left = mla(rng.normal(2, 1, 8), left)
    mla(rng.normal(2, 1, 8), right)
    mla(rng.normal(2, 1, 8), left)


def test_positions_alone_decide(check, rng):
    """The content scores nothing, all rotary parts are alike: what is left is how far tokens are apart."""
    mla = check.module(4, 2, 3, 4)
    still = torch.zeros(12, 4, dtype=torch.float64)
    still[[2, 3, 4, 5], 0], still[[8, 9, 10, 11], 0] = 1.5, -1.0
    keys = torch.zeros(4, 4, dtype=torch.float64)
    keys[:, 0] = torch.tensor([2.0, 1.0, -1.0, 3.0])
    mla.set(W_q__weight=still, W_kr__weight=keys)
    x = rng.normal(2, 6, 4)
    x[..., 0] = 1.0
    mla(x)


@without_grad
def test_positions_behind_a_cache(check, rng):
    """New tokens stand behind the cached ones: the first of five is at position 4."""
    mla = check.module(8, 2, 3, 6).set(W_q__weight=rng.normal(20, 8, scale=0.6))
    for past in (1, 4, 9):
        mla(rng.normal(2, 3, 8), pair(rng, 2, past, 3, 6))


@pytest.mark.derive("dtype")
def test_positions_beyond_two_thousand(check, rng):
    """Two thousand tokens are cached, of which eight count: one new token, then three, turned by where they stand."""
    mla = check.module(4, 2, 3, 4)
    queries, unit = rng.normal(12, 4, scale=0.5), torch.eye(4, dtype=torch.float64)
    queries[[0, 1, 6, 7]], queries[[0, 6], 0] = 0.0, 2.0
    mla.set(W_q__weight=queries, W_uk__weight=unit[[0, 3, 0, 3], :3], W_uv__weight=unit[[1, 2, 1, 2], :3])
    mla.set(W_o__weight=unit)  # outputs around 1 where scores are small: half precision rounds, and no more
    latents, turned = pair(rng, 1, 2101, 3, 4)
    latents[..., 0], latents[..., 1] = -40.0, 1.0 + latents[..., 1]
    latents[:, rng.permutation(2101)[:8], 0] = 0.0
    for n in (1, 3):
        x = rng.normal(1, n, 4)
        x[..., 0] = 1.0
        mla(x, (latents, turned))


def test_slow_and_fast_pairs(check, rng):
    """A wide rotary part: the first pair turns by a radian a token, the last one hardly."""
    mla = check.module(4, 2, 3, 16).set(W_q__weight=rng.normal(36, 4, scale=0.7))
    mla(rng.normal(2, 7, 4))


def test_sharp_attention(check, rng):
    """Large projections, where a wrong scale is plain to see."""
    mla = check.module(8, 2, 5, 2)
    mla.set(W_q__weight=rng.normal(12, 8, scale=0.5), W_uk__weight=rng.normal(8, 5, scale=0.5))
    mla(rng.normal(2, 5, 8))


@pytest.mark.derive("device", "contract")
def test_very_large_scores(check, rng):
    """Scores far beyond ten thousand: the weights are finite all the same."""
    mla = check.module(8, 2, 5, 2)
    mla(200.0 * rng.normal(2, 4, 8))


def low(check, rng, level):
    """Build a layer, and tokens whose scores are all `level`."""
    attention = check.module(d_model=2, n_heads=1, d_latent=3, d_rope=2)
    queries, keys = torch.zeros(4, 2, dtype=torch.float64), torch.zeros(2, 3, dtype=torch.float64)
    queries[0, 0] = keys[0, 0] = 1.0
    latents, values = rng.normal(3, 2), rng.normal(2, 3)
    latents[0], values[:, 0] = torch.tensor([2 * level, 0.0], dtype=torch.float64), 0.0
    attention.set(W_q__weight=queries, W_uk__weight=keys, W_dkv__weight=latents, W_uv__weight=values)
    x = rng.normal(2, 6, 2)
    x[..., 0] = 1.0
    return attention, x


@pytest.mark.derive("dtype")
def test_scores_below_minus_ten_thousand(check, rng):
    """All scores are -16384, which float16 has: -10,000 in the place of the future would be more."""
    attention, x = low(check, rng, -(2.0**14))
    attention(x)


@pytest.mark.derive("device", "contract")
@pytest.mark.parametrize("level", [-(2.0**40), -(2.0**115)])
def test_no_score_is_too_low(check, rng, level):
    """A finite stand-in for minus infinity is only as good as the lowest score it meets."""
    attention, x = low(check, rng, level)
    attention(x)


@without_grad
def test_digits_of_double_precision(check, rng):
    """In float64 the scores lie around a million and differ by a third: these digits must not get lost on the way."""
    height = 1e6 if check.dtype == torch.float64 else 1.0
    mla = check.module(2, 1, 2, 2)
    unit, nothing = torch.eye(2, dtype=torch.float64), torch.zeros(2, 2, dtype=torch.float64)
    first = torch.tensor([[2.0, 0.0], [0.0, 0.0]], dtype=torch.float64)
    mla.set(
        W_q__weight=torch.cat([first, nothing]), W_dkv__weight=nothing, W_uk__weight=unit, W_uv__weight=unit[[1, 1]]
    )
    latents = torch.stack([height + rng.permutation(5).double() / 3, rng.uniform(5, low=1.0, high=2.0)], dim=-1)[None]
    mla.set(W_dkv__weight=torch.tensor([[height, 0.0], [0.0, 1.0]], dtype=torch.float64))
    x = torch.tensor([[[1.0, 0.5]]], dtype=torch.float64)
    result = mla(x, (latents, rng.normal(1, 5, 2)))
    fine = check.dtype != torch.float64 or keeps_digits(result[0])
    check.that(fine, "a float64 result is right to seven digits only: something went through float32")


@chained
def test_interleaved_sequences(check, rng):
    """Two conversations of other batch sizes and lengths, served in turns: nothing is kept in the module."""
    mla = check.module(8, 2, 5, 4)
    _, one = mla(rng.normal(2, 3, 8))
    _, two = mla(rng.normal(1, 5, 8))
    _, one = mla(rng.normal(2, 2, 8), one)
    mla(rng.normal(1, 1, 8), two)
    mla(rng.normal(2, 1, 8), one)


def test_transposed_input(check, rng):
    """Tokens that were length first are a view, not a copy."""
    mla = check.module(8, 2, 5, 4)
    mla(rng.normal(5, 2, 8).transpose(0, 1))


def test_training_mode_computes_the_same(check, rng):
    """There is nothing random in this module."""
    mla = check.module(8, 2, 5, 4)
    mla.train()(rng.normal(2, 5, 8))


@pytest.mark.derive
def test_later_tokens_leave_no_trace(check, rng):
    """Later tokens are replaced by huge ones: not one bit of the earlier outputs may change."""
    mla = check.module(6, 2, 4, 2)
    x, cache = rng.normal(2, 5, 6), pair(rng, 2, 3, 4, 2)
    other = torch.cat([x[:, :2], rng.normal(2, 3, 6, scale=1e3)], dim=1)
    for past in (None, cache):
        before, after = mla.run(x, past)[0].got, mla.run(other, past)[0].got
        check.same(before[:, :2], after[:, :2], "an output depends on a later token")


@pytest.mark.grad
def test_gradients_behind_a_cache(check, rng):
    """New tokens and all six projections get their gradients, with a cache in front, and with an empty one."""
    mla = check.module(8, 2, 5, 4)
    mla(rng.normal(2, 3, 8), pair(rng, 2, 2, 5, 4))
    mla(rng.normal(2, 3, 8), pair(rng, 2, 0, 5, 4))


@pytest.mark.contract
@pytest.mark.parametrize("sizes", [(10, 3, 4, 2), (4, 8, 4, 2), (8, 2, 4, 3), (8, 2, 4, 1)], ids=str)
def test_impossible_sizes(check, sizes):
    """Heads that cannot share the width, rotary parts that are no pairs: refused when the module is built."""
    with check.raises(ValueError):
        check.module(*sizes)


@pytest.mark.contract
def test_cache_is_used_again(check, rng):
    """The same cache and tokens a second time give the same result, bit by bit."""
    mla = check.module(6, 2, 4, 2)
    x = rng.normal(2, 2, 6)
    _, cache = mla(rng.normal(2, 4, 6))
    first = mla(x, cache)
    mla(rng.normal(2, 3, 6), cache)
    second = mla(x, cache)
    check.same(second[0], first[0], "the same call with the same cache gives another output the second time")
    check.same(second[1][0], first[1][0], "the same call with the same cache gives other latents the second time")
    check.same(second[1][1], first[1][1], "the same call with the same cache gives other rotary keys the second time")


@pytest.mark.contract
def test_weights_are_loaded_between_calls(check, rng):
    """What was absorbed into the queries is not kept: the next call uses the new weights."""
    mla = check.module(6, 2, 4, 2)
    x = rng.normal(2, 4, 6)
    mla(x)
    mla.set(W_uk__weight=rng.normal(6, 4), W_uv__weight=rng.normal(6, 4))(x)
    mla.set(W_q__weight=rng.normal(10, 6), W_kr__weight=rng.normal(2, 6))(x)


def cost_of_a_step(check, rng, past, new):
    """Count what `new` tokens behind `past` cached ones cost, beside what the contract allows."""
    width, heads, d_latent, d_rope = 32, 4, 16, 4
    mla = check.module(width, heads, d_latent, d_rope)
    cost = mla.run(rng.normal(2, new, width), pair(rng, 2, past, d_latent, d_rope)).cost
    projections = width * (heads * (8 + d_rope) + d_latent + d_rope + width) + 2 * width * d_latent
    return cost, 2 * 2 * new * (projections + heads * (past + new) * (2 * d_latent + d_rope))


@pytest.mark.cost
def test_a_step_makes_no_old_keys_and_values(check, rng):
    """One token behind a cache, short or long."""
    for past in (15, 64, 256):
        cost, allowed = cost_of_a_step(check, rng, past, 1)
        check.at_most(cost.madds, allowed, "a decode step does more than its share of multiply-adds")


@pytest.mark.cost
def test_a_chunk_makes_no_old_keys_and_values(check, rng):
    """A few tokens at once."""
    cost, allowed = cost_of_a_step(check, rng, 256, 3)
    check.at_most(cost.madds, allowed, "a chunk does more than its share of multiply-adds")


@pytest.mark.cost
def test_one_product_for_all_tokens(check, rng):
    """The number of operations grows neither with the new tokens nor with the cached ones."""
    mla = check.module(8, 2, 5, 4)
    small = mla.run(rng.normal(2, 4, 8), pair(rng, 2, 8, 5, 4)).cost
    large = mla.run(rng.normal(2, 20, 8), pair(rng, 2, 24, 5, 4)).cost
    check.no_loop(small, large, 16, "a Python loop goes over the tokens")


@pytest.mark.derive
def test_sizes_that_people_run(check, rng):
    """Twelve heads, 300 tokens in a cache and 40 new ones; a prompt of 80 alone."""
    mla = check.module(96, 12, 24, 16)
    mla(rng.normal(2, 40, 96, scale=0.5), pair(rng, 2, 300, 24, 16))
    mla(rng.normal(1, 80, 96, scale=0.5))


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    mla = check.module(4, 2, 3, 2)
    mla(rng.normal(9, 3, 4))
    mla(rng.normal(20, 2, 4), pair(rng, 20, 1, 3, 2))
    mla(3e4 * rng.normal(2, 3, 4))
    mla(rng.normal(4, 3, 4))
    mla(rng.normal(1, 300, 4))
    check.module(4, 2, 3, 70)(rng.normal(2, 3, 4))
    check.module(1, 1, 1, 2)(rng.normal(2, 3, 1))
    check.module(18, 9, 40, 20)(rng.normal(2, 3, 18))
    check.module(2, 2, 70, 2)(rng.normal(1, 1, 2))
