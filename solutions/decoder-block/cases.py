"""Hidden cases of decoder-block."""

import pytest
import torch

from grader.kit import norms
from grader.kit.defaults import slices_of_wider_ones
from grader.kit.dropped import silence

# Gradients through a cache that was handed in are not graded: cases that hand one on have no `grad` variant.
# A norm magnifies rounding where its input varies little, so the `dtype` variants are those of wide blocks.
without_dtype = pytest.mark.derive("grad", "device", "contract")


without_grad = pytest.mark.derive("dtype", "device", "contract")


without_both = pytest.mark.derive("device", "contract")


def plain_norms(block, d_model, weight=1.0):
    """Give norm1 and norm2 these weights, norm3 weights of 1, and no biases to any of them."""
    ones, zeros = torch.ones(d_model, dtype=torch.float64), torch.zeros(d_model, dtype=torch.float64)
    block.set(norm1__weight=weight * ones, norm2__weight=weight * ones, norm3__weight=ones)
    block.set(norm1__bias=zeros, norm2__bias=zeros, norm3__bias=zeros)


def feed(block, x, memory, sizes, memory_mask=None):
    """Feed `x` in chunks of these sizes, each with the cache of the one before; the results of all calls."""
    results, cache, start = [], None, 0
    for size in sizes:
        result = block(x[:, start : start + size], memory, cache, memory_mask)
        cache, start = result[1], start + size
        results.append(result)
    return results


@without_both
def test_by_hand(check):
    """The example of the brief: all matrices are the identity, and one position of memory is read by both tokens."""
    block = check.module(d_model=3, n_heads=1, d_ff=3)
    identity, zeros = torch.eye(3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64)
    layers = [f"{attention}__W_{which}" for attention in ("self_attn", "cross_attn") for which in "qkvo"]
    for layer in [*layers, "ffn__dense1", "ffn__dense2"]:
        block.set(**{f"{layer}__weight": identity, f"{layer}__bias": zeros})
    plain_norms(block, 3)
    x, memory = identity[None, :2], torch.tensor([[[0.0, 3.0, 0.0]]], dtype=torch.float64)
    block(x, memory)


def test_first_token(check, rng):
    """One token, one position of memory."""
    block = check.module(d_model=16, n_heads=2, d_ff=6)
    block(rng.normal(2, 1, 16), rng.normal(2, 1, 16))


def test_whole_prefix_in_evaluation_mode(check, rng):
    """A whole prefix at once, in evaluation mode: no token may see the ones after it."""
    block = check.module(d_model=32, n_heads=4, d_ff=24)
    block(rng.normal(2, 5, 32), rng.normal(2, 4, 32))


@without_dtype
@pytest.mark.parametrize("sizes", [(5, 1, 7), (4, 4, 3), (8, 2, 3)])
def test_one_head_narrow_heads_narrow_layers(check, rng, sizes):
    """d_model, n_heads and d_ff by position, d_ff smaller than d_model as well."""
    block = check.module(*sizes)
    block(rng.normal(2, 4, sizes[0]), rng.normal(2, 6, sizes[0]))


@without_dtype
def test_batch_heads_and_lengths_equal(check, rng):
    """B == H == n == m == d_head, where a wrong axis does not show in the shape; the memory is not causal."""
    block = check.module(d_model=9, n_heads=3, d_ff=9)
    block(rng.normal(3, 3, 9), rng.normal(3, 3, 9))


def test_norms_of_tiny_values(check, rng):
    """All sublayers return 0 and the norms meet tiny values, where their eps decides."""
    block = check.module(d_model=6, n_heads=2, d_ff=4)
    silence(block, 6, "self_attn__W_o", "cross_attn__W_o", "ffn__dense2")
    plain_norms(block, 6, weight=1e-3)
    block(rng.normal(2, 3, 6, scale=1e-3), rng.normal(2, 4, 6))


@without_grad
def test_prompt_then_tokens(check, rng):
    """A prompt at once, a single token, then two together."""
    block = check.module(d_model=32, n_heads=2, d_ff=8)
    feed(block, rng.normal(3, 7, 32), rng.normal(3, 5, 32), [4, 1, 2])


@without_both
@pytest.mark.parametrize("sizes", [[1, 1], [1] * 5, [4, 3], [1, 5], [3, 3], [1, 4, 2, 3]])
def test_tokens_in_chunks(check, rng, sizes):
    """Each chunk continues the one before; tokens that come together must not see each other's future."""
    block = check.module(d_model=9, n_heads=3, d_ff=8)
    feed(block, rng.normal(3, sum(sizes), 9), rng.normal(3, 3, 9), sizes)


@pytest.mark.derive
@pytest.mark.parametrize("sizes", [[1] * 6, [2, 4], [4, 1, 1]])
def test_any_split_gives_the_full_pass(check, rng, sizes):
    """However the tokens are cut into chunks, the outputs and the last cache are those of one call."""
    block = check.module(d_model=6, n_heads=2, d_ff=8)
    x, memory = rng.normal(2, 6, 6), rng.normal(2, 4, 6)
    full = block(x, memory)
    results = feed(block, x, memory, sizes)
    outputs = torch.cat([result[0].got for result in results], dim=1)
    check.close(outputs, full[0].got, f"chunks of {sizes} give other outputs than one call")
    check.close(results[-1][1][0].got, full[1][0].got, f"chunks of {sizes} leave other keys than one call")
    check.close(results[-1][1][1].got, full[1][1].got, f"chunks of {sizes} leave other values than one call")


@without_grad
@pytest.mark.parametrize("length", [1, 3])
def test_empty_cache(check, rng, length):
    """A cache of length 0 is the same as none."""
    block = check.module(d_model=32, n_heads=2, d_ff=8)
    empty, memory = torch.zeros(2, 2, 0, 16, dtype=torch.float64), rng.normal(2, 4, 32)
    _, cache = block(rng.normal(2, length, 32), memory, cache=(empty, empty.clone()))
    block(rng.normal(2, 2, 32), memory, cache=cache)


@without_grad
@pytest.mark.parametrize("length", [1, 5])
def test_any_pair_is_a_cache(check, rng, length):
    """Keys and values that no call of this block has made, one or as many new tokens after them."""
    block = check.module(d_model=32, n_heads=4, d_ff=8)
    block(rng.normal(3, length, 32), rng.normal(3, 4, 32), cache=(rng.normal(3, 4, 5, 8), rng.normal(3, 4, 5, 8)))
    cache = (rng.normal(3, 4, 5, 8), rng.normal(3, 4, 5, 8))
    block(rng.normal(3, length, 32), rng.normal(3, 4, 32), cache=cache, memory_mask=rng.keep(3, 1, 4))
    with slices_of_wider_ones(check):
        block(rng.normal(3, length, 32), rng.normal(3, 4, 32), cache=cache, memory_mask=rng.keep(3, 1, 4))


@without_both
def test_two_continuations_of_one_prefix(check, rng):
    """Two beams grow from the same prefix, turn by turn; neither disturbs the other."""
    block, memory = check.module(6, 2, 8), rng.normal(2, 4, 6)
    _, prefix = block(rng.normal(2, 3, 6), memory)
    _, left = block(rng.normal(2, 1, 6), memory, prefix)
    _, right = block(rng.normal(2, 1, 6), memory, prefix)
    _, left = block(rng.normal(2, 2, 6), memory, left)
    block(rng.normal(2, 1, 6), memory, right)
    block(rng.normal(2, 1, 6), memory, left)
    block(rng.normal(2, 3, 6), memory, prefix)
    _, longer = block(rng.normal(2, 1, 6), memory, prefix)
    _, first = block(rng.normal(2, 1, 6), memory, longer)
    block(rng.normal(2, 1, 6), memory, longer)
    block(rng.normal(2, 1, 6), memory, first)


@without_both
def test_another_memory(check, rng):
    """The memory of a call counts, not that of the call before; a call without a cache begins afresh."""
    block, x = check.module(6, 2, 8), rng.normal(2, 3, 6)
    block(x, rng.normal(2, 4, 6))
    _, cache = block(x, rng.normal(2, 4, 6))
    block(rng.normal(2, 1, 6), rng.normal(2, 5, 6), cache)
    block(rng.normal(2, 1, 6), rng.normal(2, 4, 6), cache)
    block(rng.normal(2, 1, 6), rng.normal(2, 4, 6), cache)
    block(rng.normal(3, 2, 6), rng.normal(3, 4, 6))


@pytest.mark.derive
def test_calls_of_the_same_sizes(check, rng):
    """Other tokens and another memory of the same sizes, masked and then unmasked: a call goes by what it is given."""
    block = check.module(6, 2, 8)
    block(rng.normal(2, 3, 6), rng.normal(2, 4, 6), memory_mask=rng.keep(2, 3, 4))
    block(rng.normal(2, 3, 6), rng.normal(2, 4, 6))


@pytest.mark.derive("dtype")
def test_large_values(check, rng):
    """Tokens of a thousand: their squares are beyond float16, what a norm makes of them is not."""
    block = check.module(d_model=32, n_heads=2, d_ff=24)
    nothing, zero = torch.zeros(32, 32, dtype=torch.float64), torch.zeros(32, dtype=torch.float64)
    for name in ("self_attn", "cross_attn"):
        block.set(**{f"{name}__W_q__weight": nothing, f"{name}__W_q__bias": zero})
    block.set(norm1__weight=1e3 + zero, norm2__weight=1e3 + zero)
    block(rng.normal(2, 3, 32, scale=1e3), rng.normal(2, 4, 32))


@pytest.mark.derive("device")
def test_tokens_far_from_zero(check, rng):
    """All norms meet tokens whose mean is thousands of deviations away: their variance is no difference of squares."""
    block = check.module(d_model=32, n_heads=2, d_ff=4)
    silence(block, 32, "self_attn__W_o", "cross_attn__W_o", "ffn__dense2")
    plain_norms(block, 32)
    level = torch.full((32,), norms.LEVEL, dtype=torch.float64)
    block.set(norm1__bias=level, norm2__bias=level)
    x = norms.far_tokens(rng, 2, 3, 32)
    output, _cache = block.run(x, rng.normal(2, 4, 32))
    norms.check_deviations(check, output.got, norms.normed(x - norms.LEVEL, times=3))


@pytest.mark.derive("dtype")
def test_digits_of_double_precision(check, rng):
    """In float64 all scores lie around a million and differ by about one: the digits must not get lost on the way."""
    block = check.module(d_model=32, n_heads=2, d_ff=8)
    height = torch.full((32,), 1e6 if check.dtype == torch.float64 else 1.0, dtype=torch.float64)
    block.set(self_attn__W_k__bias=height, cross_attn__W_k__bias=height)
    feed(block, rng.normal(2, 5, 32), rng.normal(2, 4, 32), [3, 2])


@pytest.mark.derive("grad", "device")
def test_training_without_dropout(check, rng):
    """In training, too, the self-attention is causal; dropout = 0.0 changes nothing."""
    block = check.module(6, 2, 8).train()
    block(rng.normal(2, 5, 6), rng.normal(2, 4, 6), memory_mask=rng.keep(2, 1, 4))


@without_grad
def test_no_dropout_in_evaluation_mode(check, rng):
    """Nothing is dropped in evaluation mode, whatever the probability; it is the fourth setting."""
    block = check.module(32, 2, 8, 0.5)
    feed(block, rng.normal(2, 4, 32), rng.normal(2, 3, 32), [3, 1])


@pytest.mark.grad
def test_gradients_of_a_chunk_after_a_cache(check, rng):
    """With a cache, here an empty one, new tokens, memory and weights get their gradients, too."""
    block = check.module(d_model=6, n_heads=2, d_ff=8)
    empty = torch.zeros(3, 2, 0, 3, dtype=torch.float64)
    block(rng.normal(3, 4, 6), rng.normal(3, 5, 6), cache=(empty, empty.clone()), memory_mask=rng.keep(3, 1, 5))


@pytest.mark.grad
def test_gradients_behind_a_cache(check, rng):
    """What an earlier call returned gets no gradient here; new tokens, memory and weights do."""
    block = check.module(d_model=6, n_heads=2, d_ff=8)
    memory = rng.normal(2, 4, 6)
    _, cache = block(rng.normal(2, 3, 6), memory)
    block(rng.normal(2, 2, 6), memory, cache)


@pytest.mark.contract
@pytest.mark.parametrize(("d_model", "n_heads"), [(10, 3), (6, 4), (4, 8)])
def test_width_not_divisible_by_heads(check, d_model, n_heads):
    """Impossible sizes are refused when the block is built."""
    with check.raises(ValueError):
        check.module(d_model=d_model, n_heads=n_heads, d_ff=8)


@pytest.mark.contract
def test_cache_memory_and_mask_are_used_again(check, rng):
    """The same cache, memory and mask a second time give the same result, bit by bit."""
    block = check.module(6, 2, 8)
    x, memory, mask = rng.normal(2, 2, 6), rng.normal(2, 4, 6), rng.keep(2, 1, 4)
    _, cache = block(rng.normal(2, 4, 6), memory, memory_mask=mask)
    first = block(x, memory, cache, mask)
    block(rng.normal(2, 3, 6), memory, cache)
    second = block(x, memory, cache, mask)
    check.same(second[0], first[0], "the same call with the same cache gives another output the second time")
    check.same(second[1][0], first[1][0], "the same call with the same cache gives other keys the second time")
    check.same(second[1][1], first[1][1], "the same call with the same cache gives other values the second time")


def cost_of_a_step(check, rng, past, new):
    """Count what `new` tokens behind `past` cached ones cost, beside what is allowed: twice what they need."""
    block = check.module(32, 4, 48)
    cache = (rng.normal(2, 4, past, 8), rng.normal(2, 4, past, 8))
    cost = block.run(rng.normal(2, new, 32), rng.normal(2, 5, 32), cache).cost
    attention = 4 * 32**2 + 2 * (past + new) * 32
    cross_and_ffn = 2 * 32**2 + 2 * 5 * 32 + 2 * 32 * 48
    memory = 2 * 5 * 32**2
    return cost, 2 * 2 * (new * (attention + cross_and_ffn) + memory)


@pytest.mark.cost
def test_a_step_works_on_new_tokens_only(check, rng):
    """One token behind a long prefix: the prefix is neither projected again nor scored again."""
    for past in (64, 192):
        cost, allowed = cost_of_a_step(check, rng, past, 1)
        check.at_most(cost.madds, allowed, "a decode step does more than its share of multiply-adds")


@pytest.mark.cost
def test_a_chunk_works_on_new_tokens_only(check, rng):
    """The same for a few tokens at once."""
    cost, allowed = cost_of_a_step(check, rng, 128, 4)
    check.at_most(cost.madds, allowed, "a chunk does more than its share of multiply-adds")


@pytest.mark.derive
def test_sizes_that_people_run(check, rng):
    """Twelve heads, 300 tokens in a cache, ten new ones, 70 positions of memory; 600 tokens at once."""
    block = check.module(d_model=96, n_heads=12, d_ff=64)
    cache = (rng.normal(2, 12, 300, 8), rng.normal(2, 12, 300, 8))
    block(rng.normal(2, 10, 96), rng.normal(2, 70, 96), cache, rng.keep(2, 1, 70))
    block(rng.normal(2, 1, 96), rng.normal(2, 70, 96), cache)
    x = rng.normal(1, 70, 96)
    x[0, 1, 7] = 100.0  # nine deviations from all other features
    block(x, rng.normal(1, 65, 96))
    check.module(d_model=4, n_heads=1, d_ff=4)(rng.normal(1, 600, 4, scale=3.0), rng.normal(1, 2, 4))


@pytest.mark.precise
@pytest.mark.derive("device", "contract")
def test_faint_keys_with_loud_values(check, rng):
    """A weight of 1e-100 is a weight: its value may be as large."""
    block = check.module(d_model=8, n_heads=2, d_ff=8)
    nothing, one = torch.zeros(8, 8, dtype=torch.float64), torch.ones(8, dtype=torch.float64)
    keys, values = nothing.clone(), nothing.clone()
    keys[:, 0], values[:, 1] = 1.0, 1.0
    for name in ("self_attn", "cross_attn"):
        block.set(**{f"{name}__W_q__weight": nothing, f"{name}__W_q__bias": one})
        block.set(**{f"{name}__W_k__weight": keys, f"{name}__W_k__bias": 0 * one, f"{name}__W_v__weight": values})
    x, memory = rng.normal(2, 5, 8), rng.normal(2, 4, 8)
    for tokens in (x, memory):
        tokens[..., 0] = 0.0
        tokens[:, 1, 0], tokens[:, 1, 1] = -115.0, 1e100
    block(x, rng.normal(2, 4, 8))
    block(rng.normal(2, 3, 8), memory)


@pytest.mark.derive
def test_a_long_chunk_behind_a_cache(check, rng):
    """Forty tokens at once behind a prefix of seventy: each sees the whole prefix, and no later one."""
    block = check.module(d_model=8, n_heads=2, d_ff=8)
    feed(block, rng.normal(1, 110, 8), rng.normal(1, 4, 8), [70, 40])


@pytest.mark.derive("grad", "device", "contract")
def test_weights_are_loaded_between_calls(check, rng):
    """A step of an optimiser or a checkpoint changes the weights in place: the next call uses the new ones."""
    block = check.module(d_model=6, n_heads=2, d_ff=8)
    x, memory = rng.normal(2, 4, 6), rng.normal(2, 5, 6)
    block(x, memory)
    for attention in ("self_attn", "cross_attn"):
        block.set(**{f"{attention}__{name}__weight": rng.normal(6, 6) for name in ("W_q", "W_k", "W_v", "W_o")})
    block.set(ffn__dense1__weight=rng.normal(8, 6), ffn__dense2__weight=rng.normal(6, 8))
    block(x, memory)
    for name in ("W_q", "W_k", "W_v", "W_o"):
        block.set(**{f"{attention}__{name}__weight": rng.normal(6, 6) for attention in ("self_attn", "cross_attn")})
        block(x, memory)


@pytest.mark.precise
@pytest.mark.derive("grad")
def test_other_sizes(check, rng):
    """Wide, long, many; lengths that agree, lengths of one, large numbers: no rule changes."""
    for sizes in ((1, 1, 1), (4, 2, 2), (4, 2, 70)):
        block = check.module(*sizes)
        block(rng.normal(4, 3, sizes[0]), rng.normal(4, 4, sizes[0]))
    block = check.module(8, 2, 6)
    x, memory = rng.normal(2, 3, 8), rng.normal(2, 4, 8)
    block(x, x)
    for visible in (True, False):
        block(x, memory, memory_mask=torch.full((3, 4), visible))
    _, cache = block(rng.normal(1, 300, 8), rng.normal(1, 300, 8))
    block(rng.normal(1, 2, 8), memory[:1], cache)
    block(rng.normal(1, 2, 8), rng.normal(1, 1100, 8))
    block(3e4 * x, memory)
    block.train()(x, memory)
    block.eval()(x, memory)


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_the_same_object(check, rng, scale):
    """One tensor in several places is that tensor in each of them."""
    x = rng.normal(2, 4, 32, scale=scale)
    block = check.module(d_model=32, n_heads=2, d_ff=8)
    block(x, x)
    block(x, x, memory_mask=rng.keep(4, 4))
